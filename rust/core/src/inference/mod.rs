//! The exact posterior of counts and shares given what was released (theory E1, E2).
//!
//! The model: theta ~ Dirichlet(a), n records x | theta ~ Multinomial(n, theta). The law of almost every release, as a function
//! of the counts, is a product over cells times a function of n. So is the prior of x with theta integrated out,
//!
//! ```text
//! p(x | n) = n! Gamma(A) / Gamma(n + A)  prod_k Gamma(x_k + a_k) / (x_k! Gamma(a_k)),     A = sum a.
//! ```
//!
//! The posterior of x is thus a product of functions of one integer each, tied by the sum. [`Posterior`] computes evidence,
//! marginals, moments, covariances and joint draws from convolutions of these functions, exactly up to masses that are
//! bounded and reported ([`Posterior::error`]). Given x, theta is Dirichlet(a + x), so its law is a mixture.
//!
//! - `factor`: the likelihood of one released number given its count; all are log-concave.
//! - `cell`: prior and factors of one count, its law tilted by exp(t x), the window outside of which nothing matters.
//! - `total`: what is known of n: public, private with a prior, released with noise; the releases' own functions of n.
//! - `tree`: laws of sums upwards, weights from outside downwards, draws.
//! - `convolution`: direct or by Fourier transform, with a bound of the error.
//! - `blocks`: the tilt that keeps all digits, and blocks of totals.
//! - `posterior`: what follows for the counts.
//! - `shares`: the law of one probability, a mixture of Beta laws: quantiles and intervals.
//! - `enumerated`: the posterior from a list of all data sets, where the law of a release is no product (Hellinger mechanism).
//! - `levels`: counts that add up along a tree; `message`: what nodes say of their parents; `choices`: which choices of priors are
//!   told apart on the way.
//! - `rows`: many histograms at once, with a prior that they share.
//! - [`conditional`]: tables of a model, whose rows are alike and share totals with other tables.
//! - `calibration`: how much the evidence of a classifier counts, from a released table of its hits and misses.
//! - `mixture`: posteriors under several priors weighed by evidence; draws of probabilities and of future records.
//!
//! **Tables.** A row of a conditional table is a histogram with an unknown total: one [`Cell`] per level, with prior
//! kappa m_k and the factors of that cell's releases. [`Posterior::log_evidence_by_total`] gives ln Z(N) for every N of a
//! range, to be combined with what other tables say of N. With the resulting weights as [`TotalPrior::Weights`] (or
//! [`TotalPrior::Known`], for one N) [`Posterior::new`] gives the row's posterior means, moments and draws.
//!
//! # Examples
//! ```
//! use simplexdp_core::inference::{Cell, Factor, Noise, Posterior, Total, TotalPrior};
//!
//! let noise = Noise::Laplace { scale: 2.0, step: 1.0 };
//! let cells = [11.0, 7.0, -1.0]
//!     .map(|y| Cell::new(1.0, vec![Factor::noisy(y, noise).unwrap()], 0).unwrap());
//! let total = Total::new(TotalPrior::Known(17), vec![]).unwrap();
//! let posterior = Posterior::new(&cells, &total).unwrap();
//! let mean: f64 = posterior.count_moments().unwrap().iter().map(|m| m.0).sum();
//! assert!((mean - 17.0).abs() < 1e-9);
//! ```

mod blocks;
mod calibration;
mod cell;
mod choices;
pub mod conditional;
mod convolution;
mod enumerated;
mod exponentials;
mod factor;
mod levels;
mod message;
mod mixture;
mod posterior;
mod rows;
mod segment;
mod shares;
mod sums;
mod total;
mod tree;

pub use calibration::{Bin, weight_of_evidence};
pub use cell::Cell;
pub use enumerated::Enumerated;
pub use factor::{Factor, Noise};
pub use levels::{Level, Split, tree_posterior};
pub use mixture::{Mixture, Wanted};
pub use posterior::Posterior;
pub use rows::{Interval, Rows, Summary};
pub use segment::Segment;
pub use shares::ShareLaw;
pub use total::{Total, TotalPrior, TotalTerm, log_zero_sum_probability};
pub use tree::independent_sum;
