//! What Python sees of the core: the declared list of names, nothing else.

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

mod accounting;
mod algorithm_one;
mod arrays;
mod budget;
mod conditional;
mod confidence;
mod counting;
mod detached;
mod dirichlet;
mod dirichlet_mechanism;
mod discovery;
mod distinct;
mod divergence;
mod error;
mod guarantee;
mod hellinger;
mod incomplete;
mod inference;
mod levels;
mod marginals;
mod moments;
mod monotone;
mod network;
mod noise;
mod noise_guarantee;
mod parallel;
mod persons;
mod quantile;
mod random;
mod sensitivity;
mod simulation;
mod special;

/// The compiled core of simplexdp. Import the documented names from `simplexdp` instead.
#[pymodule]
mod _core {
    use super::*;

    /// The core draws no integer noise of a larger scale.
    #[pymodule_export]
    const LARGEST_INTEGER_SCALE: f64 = simplexdp_core::sampling::LARGEST_SCALE;

    #[pymodule_export]
    use super::distinct::{coded, distinct, distinct_texts};
    #[pymodule_export]
    use accounting::{
        PyProfile, beta_profile, budget_profile, certified_profile, compose_profiles, gamma_profile, gaussian_mu,
        gaussian_profile, laplace_profile, loss_table_profile, maximum_profile, profile_from_text, rdp_epsilon,
        rdp_profile, renyi_profile, renyi_sum_profile, tcdp_lemma_profile, tcdp_profile, two_categories_profile,
    };
    #[pymodule_export]
    use algorithm_one::{algorithm_one_mechanism, algorithm_one_scale, squared_l2};
    #[pymodule_export]
    use budget::{PyBudgetRule, PySpend, gaussian_rule, pure_rule, renyi_rule, renyi_rule_order, share_used};
    #[pymodule_export]
    use conditional::{SmoothedTables, weight_of_evidence};
    #[pymodule_export]
    use confidence::{dirichlet_counts, test_size, weighted_reaches};
    #[pymodule_export]
    use counting::count_table;
    #[pymodule_export]
    use dirichlet::{DirichletRow, dirichlet_release, dirichlet_release_units, gamma_release_units};
    #[pymodule_export]
    use dirichlet_mechanism::{PyBudget, dirichlet_expected_loss, dirichlet_floor_parameter, dirichlet_tcdp};
    #[pymodule_export]
    use discovery::{discovery_guarantee, discovery_threshold};
    #[pymodule_export]
    use divergence::{hellinger_dirichlet, kl_dirichlet, renyi_dirichlet};
    #[pymodule_export]
    use guarantee::{PyGuarantee, belief_after, check_unit, dirichlet_sampling_error, pair_within, parts_of};
    #[pymodule_export]
    use hellinger::{HellingerFamily, project_counts, project_real};
    #[pymodule_export]
    use incomplete::{
        betainc, betainc_inverse, betaincc, betaincc_inverse, gammainc, gammainc_inverse, gammaincc, gammaincc_inverse,
        log_betainc, log_betaincc, log_gammainc, log_gammaincc,
    };
    #[pymodule_export]
    use inference::{CountPosterior, Observation, infer_rows};
    #[pymodule_export]
    use levels::{Laws, tree_laws};
    #[pymodule_export]
    use marginals::{MarginalPlan, ProductMixture, count_marginals, measured_mu};
    #[pymodule_export]
    use moments::PyMoments;
    #[pymodule_export]
    use monotone::PyScaleSearch;
    #[pymodule_export]
    use network::sample_network;
    #[pymodule_export]
    use noise::{DiscreteNoise, SumPreservingNoise, polya_counts, polya_draws};
    #[pymodule_export]
    use noise_guarantee::{
        PyNoiseMechanism, choices_cost, concentrated, default_step, gaussian_tables, least_noise, least_noise_on_grid,
    };
    #[pymodule_export]
    use parallel::threads_for;
    #[pymodule_export]
    use persons::{
        crowded_rows, kept_rows, keyed_modulus, keyed_numbers, keyed_numbers_of_integers, rows_of_each, values_of_rows,
    };
    #[pymodule_export]
    use quantile::{private_quantiles, quantile_epsilon};
    #[pymodule_export]
    use random::{SeededRng, random_words};
    #[pymodule_export]
    use sensitivity::{count_change, weight_units};
    #[pymodule_export]
    use simulation::{simulate_betas, simulate_dirichlet, simulate_gammas};
    #[pymodule_export]
    use special::{digamma, log_beta, log_gamma, log_gamma_ratio, polygamma, trigamma};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        same_interpreter(module.py())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

/// Refuses a second interpreter of the process: exceptions and types are kept once a process, and those of an interpreter
/// that has ended would be handed to another one. Python itself refuses interpreters with a lock of their own.
fn same_interpreter(py: Python<'_>) -> PyResult<()> {
    // Every interpreter has builtins of its own; the module is kept, so that its address is not given to another one.
    static BUILTINS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let here = py.import("builtins")?;
    if BUILTINS.get_or_init(py, || here.clone().unbind()).is(&here) {
        return Ok(());
    }
    Err(PyImportError::new_err(
        "simplexdp works in one interpreter of a process, and another one has loaded it; use processes or threads \
         instead of sub-interpreters",
    ))
}
