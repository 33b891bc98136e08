//! Special functions against closed forms and values of mpmath (40 digits), and their poles.

use simplexdp_core::special::*;

fn close(got: f64, want: f64, relative: f64) {
    assert!((got - want).abs() <= relative * want.abs(), "{got:e} against {want:e}");
}

#[test]
fn log_gamma_agrees_with_mpmath() {
    close(log_gamma(1e-300), 690.775_527_898_213_7, 4e-16);
    close(log_gamma(0.3), 1.095_797_994_818_075_6, 4e-16);
    close(log_gamma(3.7), 1.428_072_326_665_388, 1e-15);
    close(log_gamma(1e15), 3.353_877_639_491_066e16, 4e-16);
    assert_eq!((log_gamma(1.0), log_gamma(2.0)), (0.0, 0.0));
}

#[test]
fn a_ratio_of_gammas_does_not_cancel() {
    // Gamma(a+3)/Gamma(a) = a(a+1)(a+2).
    for a in [1e-12, 1e-3, 0.7, 5.0, 1e6, 1e15_f64] {
        close(log_gamma_ratio(a, 3.0), (a * (a + 1.0) * (a + 2.0)).ln(), 1e-14);
    }
    // The derivative is digamma.
    for a in [1e-9, 0.5, 5.0, 123.0, 1e8] {
        close(log_gamma_ratio(a, 1e-12 * a) / (1e-12 * a), digamma(a), 1e-10);
    }
    close(log_gamma_ratio(7.0, -3.0), -120.0_f64.ln(), 1e-15);
    assert!(log_gamma_ratio(1.0, -1.0).is_nan() && log_gamma_ratio(f64::NAN, 1.0).is_nan());
}

#[test]
fn log_beta_is_the_normaliser_of_a_dirichlet() {
    close(log_beta(&[1.0, 2.0, 3.0]), (2.0_f64 / 120.0).ln(), 1e-15);
    close(log_beta(&[0.5, 0.5]), std::f64::consts::PI.ln(), 1e-14);
    assert!(log_beta(&[1.0, 0.0]).is_nan() && log_beta(&[1.0, f64::NAN]).is_nan());
}

#[test]
fn poles_behave_as_scipy_documents() {
    assert_eq!(log_gamma(-3.0), f64::INFINITY);
    assert_eq!(log_gamma(f64::NEG_INFINITY), f64::NEG_INFINITY);
    assert_eq!((digamma(0.0), digamma(-0.0)), (f64::NEG_INFINITY, f64::INFINITY));
    assert!(digamma(-1.0).is_nan() && digamma(f64::NEG_INFINITY).is_nan());
    assert_eq!((trigamma(0.0), trigamma(-2.0), trigamma(f64::INFINITY)), (f64::INFINITY, f64::INFINITY, 0.0));
    assert_eq!((polygamma(2, 0.0), polygamma(3, -4.0)), (f64::NEG_INFINITY, f64::INFINITY));
    assert!(polygamma(21, 1.0).is_nan());
    for f in [log_gamma, digamma, trigamma, stirling_remainder] {
        assert!(f(f64::NAN).is_nan());
    }
}

#[test]
fn polygamma_agrees_with_closed_forms() {
    let pi2 = std::f64::consts::PI.powi(2);
    close(trigamma(1.0), pi2 / 6.0, 4e-16);
    close(trigamma(0.5), pi2 / 2.0, 4e-16);
    close(polygamma(3, 1.0), pi2 * pi2 / 15.0, 1e-15);
    close(polygamma(2, 1.0), -2.404_113_806_319_188_6, 1e-15);
    close(polygamma(1, -0.5), pi2 / 2.0 + 4.0, 1e-15);
    let factorial: f64 = (1..=20).map(f64::from).product();
    close(polygamma(20, 1e-10), -factorial * 1e210, 1e-14);
}

#[test]
fn the_stirling_remainder_closes_the_formula() {
    for x in [0.01, 0.4, 0.9, 2.5, 4.0] {
        let formula = (x - 0.5) * f64::ln(x) - x + 0.5 * (2.0 * std::f64::consts::PI).ln();
        close(formula + stirling_remainder(x), log_gamma(x), 1e-14);
    }
    close(stirling_remainder(1e6), 1.0 / 12e6, 1e-12);
}

#[test]
fn incomplete_gamma_agrees_with_closed_forms_in_both_tails() {
    for x in [1e-300_f64, 1e-8, 0.3, 1.0, 7.0, 690.0] {
        close(gamma_q(1.0, x), (-x).exp(), 1e-13);
        close(gamma_p(1.0, x), -(-x).exp_m1(), 1e-13);
        // Q(a+1, x) = Q(a, x) + x^a e^-x/Gamma(a+1), for the shapes on both sides of the change of method.
        for a in [0.25_f64, 3.0, 24.5, 25.5] {
            let step = (a * x.ln() - x - log_gamma(a + 1.0)).exp();
            close(gamma_q(a + 1.0, x), gamma_q(a, x) + step, 1e-12);
        }
    }
    close(log_gamma_q(1.0, 1e6), -1e6, 1e-15);
    // P(1e9, 1e9) = 1/2 + 1/(3 sqrt(2 pi a)) - ... [DLMF 8.11.12]
    let a = 1e9;
    let first = 1.0 / (2.0 * std::f64::consts::PI * a).sqrt();
    close(gamma_p(a, a), 0.5 + first / 3.0, 1e-13);
}

#[test]
fn incomplete_beta_agrees_with_closed_forms_in_both_tails() {
    for x in [1e-300_f64, 1e-9, 0.2, 0.5, 0.7, 1.0 - 1e-12] {
        for a in [1e-3_f64, 1.0, 30.0, 1e6] {
            let exact = (a * x.ln()).exp();
            if exact > 1e-300 {
                close(beta_inc(a, 1.0, x), exact, 1e-12);
            }
            close(log_beta_inc(a, 1.0, x), a * x.ln(), 1e-13);
            // 1 - x is exact for x >= 1/2 only.
            if x >= 0.5 {
                close(log_beta_inc_c(1.0, a, x), a * (1.0 - x).ln(), 1e-13);
            }
        }
    }
    for a in [1e-3, 0.5, 7.0, 26.0, 1e4, 1e9] {
        close(beta_inc(a, a, 0.5), 0.5, 1e-13);
    }
    // The arcsine law.
    close(beta_inc(0.5, 0.5, 1e-6), 2.0 / std::f64::consts::PI * 1e-3_f64.asin(), 1e-14);
}

#[test]
fn incomplete_functions_at_the_edges_of_their_domains() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    assert_eq!((gamma_p(0.0, 1.0), gamma_p(inf, 1.0), gamma_p(2.0, 0.0), gamma_p(2.0, inf)), (1.0, 0.0, 0.0, 1.0));
    assert_eq!((log_gamma_p(2.0, 0.0), log_gamma_q(2.0, inf), log_gamma_q(2.0, 0.0)), (-inf, -inf, 0.0));
    for (a, x) in [(0.0, 0.0), (inf, inf), (-1.0, 1.0), (1.0, -1.0), (nan, 1.0), (1.0, nan)] {
        assert!(gamma_p(a, x).is_nan() && log_gamma_q(a, x).is_nan());
    }
    assert_eq!((beta_inc(0.0, 1.0, 0.5), beta_inc(1.0, 0.0, 0.5), beta_inc(2.0, 3.0, 1.0)), (1.0, 0.0, 1.0));
    for (a, b, x) in [(0.0, 0.0, 0.5), (inf, inf, 0.5), (-1.0, 1.0, 0.5), (1.0, 1.0, 1.5), (1.0, 1.0, nan)] {
        assert!(beta_inc(a, b, x).is_nan() && log_beta_inc_c(a, b, x).is_nan());
    }
    // Nothing hangs or leaves [0, 1] at the ends of the range of doubles.
    let hostile = [5e-324, 1e-300, 1e-16, 0.5, 24.999, 25.0, 1e16, 1e300, f64::MAX];
    for a in hostile {
        for b in hostile {
            for p in [gamma_p(a, b), gamma_q(a, b)] {
                assert!((0.0..=1.0).contains(&p), "{p} for {a:e} {b:e}");
            }
            for x in [5e-324, 1e-300, 0.1, 0.5, 1.0 - f64::EPSILON] {
                for p in [beta_inc(a, b, x), beta_inc_c(a, b, x)] {
                    assert!((0.0..=1.0).contains(&p), "{p} for {a:e} {b:e} {x:e}");
                }
            }
        }
    }
}

#[test]
fn quantiles_undo_the_incomplete_functions() {
    for p in [1e-290, 1e-20, 0.01, 0.5, 0.9, 1.0 - 1e-12] {
        // The functions themselves err by a unit in the last place of the logarithm.
        let noise = (2e-15 + 3e-16 * f64::ln(p).abs()) * p;
        for a in [0.02, 0.9, 3.0, 40.0, 1e5, 1e9] {
            let x = gamma_p_inverse(a, p).unwrap();
            if x > 1e-290 {
                // d ln P/d ln x may be large: compare what half a unit in the last place of x does.
                let reach = (gamma_p(a, x * (1.0 + 2e-15)) - gamma_p(a, x * (1.0 - 2e-15))).abs();
                assert!((gamma_p(a, x) - p).abs() <= reach + noise, "{a:e} {p:e}: {x:e}");
            }
            let x = gamma_q_inverse(a, p).unwrap();
            if x > 1e-290 {
                let reach = (gamma_q(a, x * (1.0 + 2e-15)) - gamma_q(a, x * (1.0 - 2e-15))).abs();
                assert!((gamma_q(a, x) - p).abs() <= reach + noise, "{a:e} {p:e}: {x:e}");
            }
            for b in [0.05, 7.0, 1e4] {
                let x = beta_inc_inverse(a, b, p).unwrap();
                if x > 1e-290 && x < 0.9 {
                    let reach = (beta_inc(a, b, x * (1.0 + 4e-15)) - beta_inc(a, b, x * (1.0 - 4e-15))).abs();
                    assert!((beta_inc(a, b, x) - p).abs() <= reach + noise, "{a:e} {b:e} {p:e}: {x:e}");
                }
            }
        }
    }
    // Median of the exponential; symmetric and power laws.
    close(gamma_q_inverse(1.0, 0.5).unwrap(), std::f64::consts::LN_2, 1e-15);
    close(beta_inc_inverse(3.5, 3.5, 0.5).unwrap(), 0.5, 1e-15);
    close(beta_inc_inverse(2.0, 1.0, 1e-200).unwrap(), 1e-100, 1e-15);
    assert_eq!((gamma_p_inverse(2.0, 0.0).unwrap(), gamma_p_inverse(2.0, 1.0).unwrap()), (0.0, f64::INFINITY));
    assert_eq!((beta_inc_c_inverse(2.0, 2.0, 0.0).unwrap(), beta_inc_c_inverse(2.0, 2.0, 1.0).unwrap()), (1.0, 0.0));
    assert!(gamma_p_inverse(0.0, 0.5).unwrap().is_nan() && gamma_q_inverse(1.0, 1.5).unwrap().is_nan());
    assert!(beta_inc_inverse(1.0, f64::INFINITY, 0.5).unwrap().is_nan());
    let hostile = [5e-324, 1e-300, 1e-16, 0.5, 24.999, 1e16, 1e300, f64::MAX];
    for a in hostile {
        for p in [5e-324, 1e-16, 0.5, 1.0 - f64::EPSILON / 2.0] {
            assert!(gamma_p_inverse(a, p).is_ok_and(|x| x >= 0.0), "{a:e} {p:e} {:?}", gamma_p_inverse(a, p));
            assert!(gamma_q_inverse(a, p).is_ok_and(|x| x >= 0.0), "{a:e} {p:e}");
            for b in hostile {
                assert!(beta_inc_inverse(a, b, p).is_ok_and(|x| (0.0..=1.0).contains(&x)), "{a:e} {b:e} {p:e}");
            }
        }
    }
}
