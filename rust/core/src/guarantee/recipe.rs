//! What a profile was made from: a typed tree, equal only where every parameter is, to the last bit.

use std::any::Any;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::text::{Field, Reader};
use crate::accounting::{
    BetaPair, BudgetPair, Composition, Conversion, Direction, DirichletBounds, DiscreteGaussianPair, GammaPair,
    GaussianPair, LaplacePair, LossTable, MaximumProfile, MinimumProfile, Profile, RenyiBound, RenyiProfile,
    TheoremTwo, TruncatedProfile, TwoCategories, WithSamplingError,
};
use crate::hellinger::CertifiedProfile;
use crate::{Error, Result};

/// A double that is compared by its bits.
#[derive(Debug, Clone, Copy)]
pub struct Real(pub f64);

impl PartialEq for Real {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Real {}

impl Hash for Real {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

/// A profile together with what it was made from. Parts are shared, and so is what they remember.
pub struct Node {
    recipe: Recipe,
    profile: Arc<dyn Profile>,
}

/// How a profile is made.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Recipe {
    /// One of [`Leaf`].
    Leaf(Leaf),
    /// Bounds of all Renyi divergences that somebody else computes.
    Function(Function, bool),
    /// The pointwise maximum: a profile that dominates all of them.
    Maximum(Vec<Arc<Node>>),
    /// Profiles of pairs in the same direction, each so many times.
    Composition(Vec<(Arc<Node>, u64)>),
    /// The sum of Renyi divergences, each so many times; whether converted in the best way.
    RenyiSum(Vec<(Arc<Node>, u64)>, bool),
    /// The better of two bounds of one release at each epsilon. The first one names all of its parts.
    Minimum(Arc<Node>, Arc<Node>),
}

/// Renyi divergences by a function, which has no text: it is equal to itself alone.
#[derive(Clone)]
pub struct Function {
    /// The bound as a function of the order.
    pub bound: RenyiBound,
    /// What the caller knows the function by.
    pub tag: Arc<dyn Any + Send + Sync>,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("function")
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.tag, &other.tag)
    }
}

impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.tag).cast::<()>().hash(state);
    }
}

/// Defines the recipes without parts: the variant, its name in texts, its fields, and how its profile is made.
macro_rules! leaves {
    ($($(#[$doc:meta])* $variant:ident $name:literal { $($field:ident: $type:ty),* } => $make:expr;)*) => {
        /// Profiles that are made from numbers alone.
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        #[allow(missing_docs)] // The fields are the parameters of the profile that each variant names.
        pub enum Leaf {
            $($(#[$doc])* $variant { $($field: $type),* },)*
        }

        impl Leaf {
            /// Makes the profile.
            fn profile(&self) -> Result<Arc<dyn Profile>> {
                Ok(match self {
                    $(Self::$variant { $($field),* } => Arc::new($make),)*
                })
            }

            /// Writes `name(field, ...)`.
            pub(super) fn write(&self, out: &mut String) {
                match self {
                    $(Self::$variant { $($field),* } => {
                        out.push_str(concat!($name, "("));
                        let fields: &[&dyn Field] = &[$($field),*];
                        for (i, field) in fields.iter().enumerate() {
                            if i > 0 {
                                out.push_str(", ");
                            }
                            field.write(out);
                        }
                        out.push(')');
                    })*
                }
            }

            /// Reads the fields of the leaf of this name; none if there is no such leaf.
            pub(super) fn read(name: &str, reader: &mut Reader<'_>) -> Option<Result<Self>> {
                match name {
                    $($name => Some((|| {
                        let mut first = true;
                        $(let $field = {
                            if !std::mem::take(&mut first) {
                                reader.expect(',')?;
                            }
                            <$type>::read(reader)?
                        };)*
                        let _ = first;
                        Ok(Self::$variant { $($field),* })
                    })()),)*
                    _ => None,
                }
            }
        }
    };
}

leaves! {
    /// The worst pair that an (epsilon, delta) guarantee allows.
    Budget "budget" { epsilon: Real, delta: Real } => BudgetPair::new(epsilon.0, delta.0)?;
    /// N(mu, 1) against N(0, 1).
    Gaussian "gaussian" { mu: Real } => GaussianPair::new(mu.0)?;
    /// N(mu, 1) against N(0, 1) by a sampler that is this far off, which no pair of laws describes.
    GridGaussian "grid_gaussian" { mu: Real, error: Real } =>
        WithSamplingError::new(Arc::new(GaussianPair::new(mu.0)?), error.0)?;
    /// Discrete Gaussian noise around integers of which one or two move by one.
    DiscreteGaussian "discrete_gaussian" { sigma: Real, changed: u64 } =>
        DiscreteGaussianPair::new(sigma.0, u32::try_from(*changed).unwrap_or(u32::MAX))?;
    /// Laplace laws whose centres are so many scales apart.
    Laplace "laplace" { epsilon: Real } => LaplacePair::new(epsilon.0)?;
    /// Beta(a + r, b) against Beta(a, b + r).
    Beta "beta" { a: Real, b: Real, r: Real } => BetaPair::new(a.0, b.0, r.0)?;
    /// Gamma(a + r) against Gamma(a), or the other way round.
    Gamma "gamma" { a: Real, r: Real, add: bool } =>
        GammaPair::new(a.0, r.0, if *add { Direction::Add } else { Direction::Remove })?;
    /// Two categories with a public total, over all counts of at least a floor.
    TwoCategories "two_categories" { a: Real, b: Real, r: Real, total: u64, floor: u64 } =>
        TwoCategories::new(a.0, b.0, r.0, *total, *floor)?;
    /// Masses at increasing losses, and at infinity.
    LossTable "loss_table" { losses: Arc<[Real]>, masses: Arc<[Real]>, infinite: Real } =>
        LossTable::new(doubles(losses), &doubles(masses), infinite.0)?;
    /// The points of a certificate of the Hellinger mechanism.
    Certified "certified" { epsilons: Arc<[Real]>, deltas: Arc<[Real]> } =>
        CertifiedProfile::from_points(&doubles(epsilons), &doubles(deltas))?;
    /// (rho, omega)-tCDP by \[DPS\] Lemma 1.
    TruncatedLemma "tcdp_lemma" { rho: Real, omega: Real } => TruncatedProfile::new(rho.0, omega.0)?;
    /// (rho, omega)-tCDP through all Renyi orders below omega; whether converted in the best way.
    Truncated "tcdp" { rho: Real, omega: Real, optimal: bool } => {
        let bound = TruncatedProfile::new(rho.0, omega.0)?;
        RenyiProfile::new(Arc::new(move |order| bound.renyi(order)), conversion(*optimal))
            .with_rho(Arc::new(move |omega| bound.tcdp_upper(omega)))
    };
    /// Renyi differential privacy at one order, and so at the orders below it.
    Renyi "rdp" { order: Real, epsilon: Real, optimal: bool } => {
        let (order, epsilon) = (order.0, epsilon.0);
        let bound = move |x: f64| if x <= order { epsilon } else { f64::INFINITY };
        RenyiProfile::at_order(Arc::new(bound), conversion(*optimal), order)?
    };
    /// Any f of bounded sensitivities under a Dirichlet mechanism, through all Renyi orders.
    DirichletRenyi "dirichlet_renyi" { scale: Real, l2: Real, linf: Real, prior: Real, optimal: bool } => {
        let bounds = DirichletBounds::new(scale.0, l2.0, linf.0, prior.0)?;
        RenyiProfile::new(Arc::new(move |order| bounds.renyi(order)), conversion(*optimal))
    };
    /// The same by \[DPS\] Thm 2.
    DirichletTheorem "dirichlet_theorem" { scale: Real, l2: Real, linf: Real, prior: Real } =>
        TheoremTwo(DirichletBounds::new(scale.0, l2.0, linf.0, prior.0)?);
}

fn doubles(values: &[Real]) -> Vec<f64> {
    values.iter().map(|value| value.0).collect()
}

fn conversion(optimal: bool) -> Conversion {
    if optimal { Conversion::Optimal } else { Conversion::Tangent }
}

impl Node {
    /// Makes the profile of a recipe.
    ///
    /// # Errors
    /// If a parameter is out of its range, or there are no parts.
    pub fn new(recipe: Recipe) -> Result<Arc<Self>> {
        let shared = |parts: &[(Arc<Self>, u64)]| -> Vec<(Arc<dyn Profile>, u64)> {
            parts.iter().map(|(node, times)| (node.shared(), *times)).collect()
        };
        let profile: Arc<dyn Profile> = match &recipe {
            Recipe::Leaf(leaf) => leaf.profile()?,
            Recipe::Function(function, optimal) => {
                Arc::new(RenyiProfile::new(Arc::clone(&function.bound), conversion(*optimal)))
            }
            Recipe::Maximum(nodes) if nodes.is_empty() => {
                return Err(Error::parameter("profiles", "hold at least one profile", "none"));
            }
            Recipe::Maximum(nodes) => Arc::new(MaximumProfile::new(nodes.iter().map(|node| node.shared()).collect())),
            Recipe::Composition(parts) => Arc::new(Composition::new(shared(parts))?),
            Recipe::RenyiSum(parts, optimal) => Arc::new(RenyiProfile::composed(shared(parts), conversion(*optimal))),
            Recipe::Minimum(first, second) => Arc::new(MinimumProfile::new(first.shared(), second.shared())),
        };
        Ok(Arc::new(Self { recipe, profile }))
    }

    /// A profile made from numbers alone.
    ///
    /// # Errors
    /// If a parameter is out of its range.
    pub fn leaf(leaf: Leaf) -> Result<Arc<Self>> {
        Self::new(Recipe::Leaf(leaf))
    }

    /// The profile.
    pub fn profile(&self) -> &dyn Profile {
        &*self.profile
    }

    /// The profile, shared.
    pub fn shared(&self) -> Arc<dyn Profile> {
        Arc::clone(&self.profile)
    }

    /// What it was made from.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// What it is composed of, and how often each part counts; itself once where it is no composition.
    pub fn parts(self: &Arc<Self>) -> Vec<(Arc<Self>, u64)> {
        match &self.recipe {
            Recipe::Composition(parts) | Recipe::RenyiSum(parts, _) => parts.clone(),
            Recipe::Minimum(first, _) => first.parts(),
            _ => vec![(Arc::clone(self), 1)],
        }
    }

    /// The functions in it, which no text can hold.
    pub fn functions(&self) -> Vec<Function> {
        match &self.recipe {
            Recipe::Leaf(_) => Vec::new(),
            Recipe::Function(function, _) => vec![function.clone()],
            Recipe::Maximum(nodes) => nodes.iter().flat_map(|node| node.functions()).collect(),
            Recipe::Composition(parts) | Recipe::RenyiSum(parts, _) => {
                parts.iter().flat_map(|(node, _)| node.functions()).collect()
            }
            Recipe::Minimum(first, second) => [first.functions(), second.functions()].concat(),
        }
    }
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.recipe.fmt(f)
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || self.recipe == other.recipe
    }
}

impl Eq for Node {}

impl Hash for Node {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.recipe.hash(state);
    }
}
