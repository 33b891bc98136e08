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
