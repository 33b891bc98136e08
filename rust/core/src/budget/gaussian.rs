//! The default rule where delta > 0: a book that holds a pair, moved by what each spend needs of it.
//!
//! Theorem F (docs/theory/budgets.md): from V a spend of C may move to any V' with C x V' below V at every real eps. The
//! book starts whole: V is the worst pair that is (epsilon, delta)-DP, and pure costs are paid from it by sums
//! ([`super::pure`]). The first spend for which that is the cheaper way moves it into the Gaussian family D_(M,S)
//! (`leaky.rs`); as V is maximal, one value decides: (C x D_(M',S'))(epsilon) <= delta. From there on a spend moves (M, S)
//! to (M - m, S - s), certified in `domination.rs`, and Gaussian costs are exact. Where the first spend is skewed, as those of
//! Dirichlet mechanisms are when records are added or removed, the pair is lopsided likewise ([`super::jumps`]).

use std::sync::Arc;

use super::domination::{is_below, price};
use super::jumps::{self, Jumps};
use super::law::{Law, Side};
use super::leaky::{leaked_up, profile_up};
use super::pure::{PureRule, Sums};
use super::rule::{Decision, Opening, Rule, checked, refused};
use super::{Spend, running::Running};
use crate::rounding::{exp_m1_up, product_up, sum_down, sum_up};
use crate::{Error, Result};

/// The share of delta that becomes leak when the book moves into the Gaussian family, if none is named: it pays for tails
/// that are heavier than normal ones, and costs Gaussian releases about 0.1 % of their number.
pub const SLACK: f64 = 0.01;
/// The book stays whole, which leaves more ways to go on, unless so many times more equal spends fit after leaving.
const PREMIUM: f64 = 1.25;
/// How much of a leak may be lost with the tail of a curve.
const TAIL: f64 = 1e-3;
/// Prices are found for k of so many binary digits, rounded down: what is certified for k holds above.
const DIGITS: u32 = 5;
/// Prices do not fall any more beyond k = this many times the curve's own size.
const FAR: f64 = 4096.0;
/// Below k = this share of the curve's own size the law is too coarse for a Gaussian pair so narrow.
const NEAR: f64 = 0.01;
/// A cost above so many times k and the curve's own size is not looked for.
const MOST: f64 = 8.0;
/// Skewed pairs are held where so many of the spends fit.
const MANY: f64 = 32.0;
/// ... and not so few less than a plan of them would have that the Gaussian book may lose no more.
const ENOUGH: f64 = 0.98;
/// How often a smaller leak is tried when the one in proportion does not fit.
const FRUGAL: i32 = 8;

const REFUSAL: &str = "what is left does not dominate it";

/// What a book holds.
#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    /// The worst pair within the budget, less sums.
    Whole(Sums),
    /// D_(M,S); a spend that takes m may take its own leak and `rate` m of S. `unit` M are all of what is left; `errors` were spent.
    /// With `jumps` the pair is D_(M,S) x T_(c M).
    Parts { square: f64, leak: f64, rate: f64, unit: f64, errors: Running, jumps: Jumps },
}

impl State {
    fn numbers(&self) -> Vec<f64> {
        match *self {
            Self::Whole(sums) => [0.0].into_iter().chain(sums.numbers()).collect(),
            Self::Parts { square, leak, rate, unit, errors, jumps } => {
                let kind = if jumps.is_none() { 1.0 } else { 2.0 };
                let mut numbers = vec![kind, square, leak, rate, unit, errors.high, errors.low];
                if !jumps.is_none() {
                    numbers.extend([jumps.often, jumps.height, jumps.rising as f64]);
                }
                numbers
            }
        }
    }

    fn read(numbers: &[f64]) -> Result<Self> {
        let Some((kind, rest)) = numbers.split_first() else {
            return Err(Error::parameter("state", "be one that the rule has returned", "nothing"));
        };
        if *kind == 0.0 {
            return Ok(Self::Whole(Sums::read(rest)?));
        }
        let length = if *kind == 2.0 { 9 } else { 6 };
        checked((*kind == 1.0 || *kind == 2.0) && rest.len() == length && rest.iter().all(|x| x.is_finite()))?;
        checked(rest[..5].iter().all(|x| *x >= 0.0) && rest[4] + rest[5] == rest[4])?;
        let errors = Running { high: rest[4], low: rest[5] };
        let jumps = match rest[6..] {
            [often, height, rising] => {
                checked(often > 0.0 && often * rest[0] <= jumps::MOST && height > 0.0 && height < 1.0)?;
                checked(rising == 0.0 || rising == 1.0)?;
                Jumps { often, height, rising: rising as usize }
            }
            _ => Jumps::NONE,
        };
        Ok(Self::Parts { square: rest[0], leak: rest[1], rate: rest[2], unit: rest[3], errors, jumps })
    }
}

/// The Gaussian book.
#[derive(Debug, Clone)]
pub struct GaussianRule {
    whole: PureRule,
    slack: f64,
}

/// A way into the Gaussian family.
#[derive(Debug, Clone, Copy)]
struct Parts {
    square: f64,
    leak: f64,
    rate: f64,
    /// What M is of what it would be without the spend.
    share: f64,
    /// About how many such spends fit, this one included.
    affords: f64,
}

/// What a spend takes of a pair.
#[derive(Debug, Clone, Copy)]
struct Cost {
    square: f64,
    leak: f64,
}

impl GaussianRule {
    /// The rule of this budget; `slack` is the share of delta for tails heavier than normal ones, [`SLACK`] by default.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless epsilon is positive, and delta and slack are in (0, 1).
    pub fn new(epsilon: f64, delta: f64, slack: Option<f64>) -> Result<Self> {
        let slack = slack.unwrap_or(SLACK);
        if !(delta > 0.0) {
            return Err(Error::parameter("delta", "be above 0 for a Gaussian budget", delta));
        }
        if !(slack > 0.0 && slack < 1.0) {
            return Err(Error::parameter("slack", "be in (0, 1)", slack));
        }
        Ok(Self { whole: PureRule::new(epsilon, delta)?, slack })
    }

    fn opening(&self) -> &Opening {
        self.whole.opening()
    }

    /// The state after a spend from a book that is still whole, if it fits.
    fn paid_whole(&self, sums: &Sums, spend: &Spend) -> Result<Option<State>> {
        // Finite losses only: other points of a curve are paid better from a Gaussian pair.
        let bounded = spend.largest_loss(self.opening().epsilon).is_some();
        let paid = if bounded { self.whole.paid(sums, spend) } else { None };
        let so_many = if paid.is_some() { self.whole.affords(sums, spend) } else { 0.0 };
        let errors = sums.errors.plus(spend.error());
        if errors.within(self.opening().errors)
            && let Some(parts) = self.converted(sums, spend)?
            && parts.affords > PREMIUM * so_many
        {
            let left = 1.0 - self.whole.share(sums);
            if let Some(state) = self.lopsided(sums, spend, &parts, left, errors)? {
                return Ok(Some(state));
            }
            let unit = if parts.square > 0.0 { parts.share * left / parts.square } else { 0.0 };
            let Parts { square, leak, rate, .. } = parts;
            return Ok(Some(State::Parts { square, leak, rate, unit, errors, jumps: Jumps::NONE }));
        }
        Ok(paid.map(State::Whole))
    }

    /// The largest Gaussian pair (M', S') that may follow the spend: (C x D_(M',S'))(epsilon) within what is left.
    fn converted(&self, sums: &Sums, spend: &Spend) -> Result<Option<Parts>> {
        let (epsilon, leak) = self.whole.left(sums);
        let delta = -exp_m1_up(-leak);
        if !(epsilon > 0.0 && delta > 0.0) {
            return Ok(None);
        }
        let Some(curve) = Curve::of(spend, delta * 1e-5)? else {
            return Ok(None);
        };
        let without = |per_unit: f64| largest(|square| profile_up(square, per_unit * square, epsilon) <= delta);
        let with =
            |per_unit: f64| largest(|square| leaked_up(curve.followed_by(square, epsilon), per_unit * square) <= delta);
        let alone = largest(|square| profile_up(square, 0.0, epsilon) <= delta * (1.0 - self.slack));
        let rate = self.slack * delta / alone;
        // A curve that may tell everything needs its share of the leak: equal spends exhaust both together.
        let per_unit = rate + spend.leak() / (without(rate) - with(rate)).max(f64::MIN_POSITIVE);
        let (before, square) = (without(per_unit), with(per_unit));
        // Nothing but the spend itself need fit.
        if !(square > 0.0 || spend.delta(epsilon) <= delta) {
            return Ok(None);
        }
        let affords = 1.0 + square / (before - square).max(f64::MIN_POSITIVE);
        Ok(Some(Parts { square, leak: per_unit * square, rate, share: (square / before).min(1.0), affords }))
    }

    /// The state after a skewed spend, in the family of pairs that are skewed like it; none unless more such spends fit so.
    fn lopsided(&self, sums: &Sums, spend: &Spend, parts: &Parts, left: f64, errors: Running) -> Result<Option<State>> {
        if spend.directions() < 2 || spend.gaussian().is_some() || spend.leak() > 0.0 || parts.affords < MANY {
            return Ok(None);
        }
        let (epsilon, whole_leak) = self.whole.left(sums);
        let delta = -exp_m1_up(-whole_leak);
        let Some(law) = table(spend, delta * 1e-5)? else { return Ok(None) };
        let cumulants: Vec<[f64; 3]> = law.sides.iter().map(Side::cumulants).collect();
        let rising = usize::from(cumulants[1][1] > cumulants[0][1]);
        let jumps = Jumps::like(cumulants[rising], rising, parts.affords);
        if jumps.is_none() {
            return Ok(None);
        }
        let rate = parts.rate / jumps.gaussian_share();
        let within = |square: f64, direction: usize| {
            let value = jumps.law(square, direction, true).profile_up(square, epsilon);
            leaked_up(value, rate * square) <= delta
        };
        let before = largest(|square| jumps.often * square <= jumps::MOST && within(square, 0) && within(square, 1));
        let leak = rate * before;
        if !(before > 0.0) {
            return Ok(None);
        }
        let Some(cost) = self.cost(before, leak, rate, spend, &jumps)? else { return Ok(None) };
        // What is estimated of the Gaussian book does not know of its loss to the skewness.
        if before < ENOUGH * parts.affords * cost.square {
            return Ok(None);
        }
        let (square, leak) = (sum_down(before, -cost.square).max(0.0), sum_down(leak, -cost.leak).max(0.0));
        Ok(Some(State::Parts { square, leak, rate, unit: left / before, errors, jumps }))
    }

    /// The cheapest certified cost of a spend from D_(M,S).
    fn cost(&self, square: f64, leak: f64, rate: f64, spend: &Spend, jumps: &Jumps) -> Result<Option<Cost>> {
        if jumps.is_none()
            && let Some(own) = spend.gaussian()
        {
            return Ok((own <= square).then_some(Cost { square: own, leak: 0.0 }));
        }
        let own = spend.scale() * spend.scale();
        if own == 0.0 && spend.leak() == 0.0 {
            return Ok(Some(Cost { square: 0.0, leak: 0.0 }));
        }
        if square == 0.0 {
            return Ok(None);
        }
        if spend.leak() <= leak && own < square {
            for frugal in 0..FRUGAL {
                let rate = rate * 8.0_f64.powi(-frugal);
                if let Some(added) = self.added(square, rate, spend, jumps)? {
                    // The price was certified with leak() + rate * added, computed alike.
                    let total = total_leak(spend.leak(), rate, added);
                    if total <= leak {
                        return Ok(Some(Cost { square: added, leak: total }));
                    }
                } else {
                    break;
                }
                if rate == 0.0 {
                    break;
                }
            }
        }
        // The last spend may take all.
        let law = table(spend, TAIL * leak.max(f64::MIN_POSITIVE))?;
        Ok(law.filter(|law| is_below(law, square, leak)).map(|_| Cost { square, leak }))
    }

    /// The least m that was certified for a k <= M - m.
    fn added(&self, square: f64, rate: f64, spend: &Spend, jumps: &Jumps) -> Result<Option<f64>> {
        let own = spend.scale() * spend.scale() * jumps.gaussian_share();
        let mut kept = rounded_down(square - own);
        for _ in 0..12 {
            if !(kept > NEAR * own) {
                return Ok(None);
            }
            let at = kept.min(rounded_down(FAR * own));
            let key = [at, rate, jumps.often, jumps.height, jumps.rising as f64].map(f64::to_bits);
            let found = spend.price(key, || match table(spend, TAIL * rate * own)? {
                Some(law) => price(&law, jumps, at, rate, spend.leak(), own, MOST * (at + own)),
                None => Ok(None),
            })?;
            let Some(added) = found else { return Ok(None) };
            if added <= sum_down(square, -kept) {
                return Ok(Some(added));
            }
            // Down by a step at least.
            kept = rounded_down((square - added).min(kept * (1.0 - 0.5_f64.powi(DIGITS as i32 + 2))));
        }
        Ok(None)
    }
}

/// The leak of a price, as the certificate had it.
fn total_leak(least: f64, rate: f64, added: f64) -> f64 {
    sum_up(least, product_up(rate, added))
}

/// The law of a spend; none where no table holds its losses. There may be other ways to pay.
fn table(spend: &Spend, tail: f64) -> Result<Option<Arc<Law>>> {
    match spend.law(tail) {
        Ok(law) => Ok(Some(law)),
        Err(Error::Numerical { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A curve that may be followed by a Gaussian pair.
enum Curve {
    Gaussian(f64),
    Other(Arc<Law>),
}

impl Curve {
    fn of(spend: &Spend, tail: f64) -> Result<Option<Self>> {
        if let Some(square) = spend.gaussian() {
            return Ok(Some(Self::Gaussian(square)));
        }
        Ok(table(spend, tail)?.map(Self::Other))
    }

    /// An upper bound of the composed profile.
    fn followed_by(&self, square: f64, epsilon: f64) -> f64 {
        match self {
            Self::Gaussian(own) => profile_up(sum_up(*own, square), 0.0, epsilon),
            Self::Other(law) => law.sides.iter().map(|side| side.profile_up(square, epsilon)).fold(0.0, f64::max),
        }
    }
}

/// The largest M, from below, for which `fits`; zero if there is none.
fn largest(fits: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (1e-14, 1.0);
    if !fits(low) {
        return 0.0;
    }
    while fits(high) && high < 1e12 {
        (low, high) = (high, 4.0 * high);
    }
    while high > low * (1.0 + 1e-15) {
        let middle = if high > 2.0 * low { (low * high).sqrt() } else { 0.5 * (low + high) };
        if !(middle > low && middle < high) {
            break;
        }
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// A number of few binary digits, at most x.
fn rounded_down(x: f64) -> f64 {
    if x > 0.0 { f64::from_bits(x.to_bits() >> (52 - DIGITS) << (52 - DIGITS)) } else { 0.0 }
}

impl Rule for GaussianRule {
    fn start(&self) -> Vec<f64> {
        State::Whole(Sums::default()).numbers()
    }

    fn debit(&self, state: &[f64], spend: &Spend) -> Result<Decision> {
        match State::read(state)? {
            State::Whole(sums) => {
                if let Some(then) = self.paid_whole(&sums, spend)? {
                    return Ok(Decision::Paid(then.numbers()));
                }
                if sums == Sums::default() && self.opening().fits_alone(spend) {
                    let errors = Running { high: self.opening().errors, low: 0.0 };
                    let (square, leak, rate, unit, jumps) = (0.0, 0.0, 0.0, 0.0, Jumps::NONE);
                    let nothing = State::Parts { square, leak, rate, unit, errors, jumps };
                    return Ok(Decision::Paid(nothing.numbers()));
                }
                refused(REFUSAL)
            }
            State::Parts { square, leak, rate, unit, errors, jumps } => {
                let errors = errors.plus(spend.error());
                if !errors.within(self.opening().errors) {
                    return refused("the errors of the samplers are more than the budget has set aside");
                }
                match self.cost(square, leak, rate, spend, &jumps)? {
                    Some(cost) => {
                        let (square, leak) = (sum_down(square, -cost.square), sum_down(leak, -cost.leak));
                        let (square, leak) = (square.max(0.0), leak.max(0.0));
                        let then = State::Parts { square, leak, rate, unit, errors, jumps };
                        Ok(Decision::Paid(then.numbers()))
                    }
                    None => refused(REFUSAL),
                }
            }
        }
    }

    fn used(&self, state: &[f64]) -> Result<f64> {
        Ok(match State::read(state)? {
            State::Whole(sums) => self.whole.share(&sums),
            State::Parts { square, unit, .. } => (1.0 - square * unit).clamp(0.0, 1.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::{BetaPair, BudgetPair, Direction, GammaPair, GaussianPair, LossTable, Profile};

    fn spend(profile: impl Profile + 'static) -> Spend {
        Spend::new(vec![Arc::new(profile)], 0.0).unwrap()
    }

    fn rule() -> GaussianRule {
        GaussianRule::new(1.0, 1e-6, None).unwrap()
    }

    /// How many fit, and the states on the way.
    fn spent(rule: &GaussianRule, spend: &Spend) -> Vec<Vec<f64>> {
        let mut states = vec![rule.start()];
        while let Decision::Paid(next) = rule.debit(&states[states.len() - 1], spend).unwrap() {
            states.push(next);
        }
        states
    }

    #[test]
    fn a_gaussian_pair_costs_its_square_and_nothing_else() {
        let states = spent(&rule(), &spend(GaussianPair::new(0.0125).unwrap()));
        for pair in states[1..].windows(2) {
            let square = pair[0][1] - pair[1][1];
            assert!((square / 0.0125_f64.powi(2) - 1.0).abs() < 1e-10 && pair[0][2] == pair[1][2]);
        }
        // A table of normal losses, at their kinks, is as good.
        let step = 0.003125;
        let mass = |k: i32| {
            let z = (f64::from(k) * step - 0.5 * 0.0125_f64.powi(2)) / 0.0125;
            step / 0.0125 * super::super::normal::density(z)
        };
        let losses: Vec<f64> = (-28..=28).map(|k| f64::from(k) * step).collect();
        let masses: Vec<f64> = (-28..=28).map(mass).map(|mass| mass * (1.0 - 1e-9)).collect();
        let table = spent(&rule(), &spend(LossTable::new(losses, &masses, 1e-11).unwrap()));
        assert!(table.len() > 350 && table.len() <= states.len() + 1, "{} {}", table.len(), states.len());
    }

    #[test]
    fn prices_fall_as_more_is_left_and_add_up_to_all() {
        let states = spent(&rule(), &spend(BetaPair::new(1.0841, 1.0841, 0.005007).unwrap()));
        let prices: Vec<f64> = states[1..].windows(2).map(|pair| pair[0][1] - pair[1][1]).collect();
        assert!(states.len() > 741, "{}", states.len());
        // Up to what is lost to the search.
        assert!(prices.windows(2).all(|pair| pair[0] <= pair[1] * (1.0 + 2e-3)));
    }

    #[test]
    fn what_tells_everything_takes_the_leak_in_proportion() {
        let states = spent(&rule(), &spend(BudgetPair::new(0.01, 1e-9).unwrap()));
        assert!(states.len() > 450, "{}", states.len());
        let last = &states[states.len() - 1];
        assert!(last[2] < 2e-9 || last[1] < 2e-4, "{last:?}");
    }

    #[test]
    fn a_book_that_a_skewed_curve_opens_is_lopsided_like_it() {
        // Dirichlet releases of epsilon 0.05 where records are added or removed; a plan has 1234.
        let pair = |add: bool| -> Arc<dyn Profile> {
            let direction = if add { Direction::Add } else { Direction::Remove };
            Arc::new(GammaPair::new(1.266_734_994, 0.006_099_322, direction).unwrap())
        };
        for turned in [false, true] {
            let spend = Spend::new(vec![pair(turned), pair(!turned)], 0.0).unwrap();
            let states = spent(&rule(), &spend);
            assert!(states.len() > 1197, "{}: {:?}", states.len(), states[1]);
            // Other spends are paid from it too.
            let normal = || -> Arc<dyn Profile> { Arc::new(GaussianPair::new(0.0125).unwrap()) };
            let normal = Spend::new(vec![normal(), normal()], 0.0).unwrap();
            let mut state = states[1].clone();
            let mut count = 0;
            while let Decision::Paid(next) = rule().debit(&state, &normal).unwrap() {
                (state, count) = (next, count + 1);
            }
            assert!(count > 250, "{count} of 280");
        }
    }

    /// A curve that knows no epsilon for small deltas, as compositions may not.
    struct Endless<P: Profile>(P, f64);

    impl<P: Profile> Profile for Endless<P> {
        fn delta_upper(&self, epsilon: f64) -> f64 {
            self.0.delta_upper(epsilon).max(self.1)
        }
        fn delta_lower(&self, epsilon: f64) -> f64 {
            self.0.delta_lower(epsilon)
        }
        fn epsilon_upper(&self, delta: f64) -> f64 {
            if delta < self.1.max(1e-9) { f64::INFINITY } else { self.0.epsilon_upper(delta) }
        }
    }

    #[test]
    fn a_curve_that_knows_no_end_is_paid_by_what_it_knows() {
        for (floor, least) in [(0.0, 330), (1e-18, 330), (1e-10, 60)] {
            let states = spent(&rule(), &spend(Endless(GaussianPair::new(0.0125).unwrap(), floor)));
            assert!(states.len() > least, "{floor}: {}", states.len());
        }
        // What never falls tells everything with that probability.
        let states = spent(&rule(), &spend(Endless(GaussianPair::new(0.0125).unwrap(), 1e-4)));
        assert_eq!(states.len(), 1);
    }

    #[test]
    fn a_price_takes_its_own_leak_and_that_of_its_square() {
        assert_eq!(
            (total_leak(0.5, 0.25, 2.0), total_leak(0.0, 0.25, 2.0), total_leak(0.5, 0.25, 0.0)),
            (1.0, 0.5, 0.5)
        );
        assert!(total_leak(0.1, 0.1, 0.1) >= 0.11);
    }

    #[test]
    fn errors_of_samplers_end_at_their_reserve() {
        let rule = rule();
        let error = rule.opening().errors * 0.4;
        let profile = || -> Arc<dyn Profile> { Arc::new(GaussianPair::new(0.0125).unwrap()) };
        assert_eq!(spent(&rule, &Spend::new(vec![profile()], error).unwrap()).len(), 3);
    }

    #[test]
    fn states_and_numbers_that_are_none_are_refused() {
        let pay = spend(BudgetPair::new(0.01, 0.0).unwrap());
        for state in [vec![], vec![2.0; 7], vec![1.0; 3], vec![1.0, f64::NAN, 0.0, 0.0, 0.0, 0.0, 0.0], vec![-1.0; 7]] {
            assert!(rule().debit(&state, &pay).is_err() && rule().used(&state).is_err(), "{state:?}");
        }
        let skewed = [2.0, 0.1, 1e-9, 1e-9, 1.0, 0.0, 0.0, 1.0, 0.5, 1.0];
        assert!(rule().used(&skewed).is_ok());
        for (place, wrong) in [(1, -0.1), (6, 1e-3), (7, 0.0), (7, 1e9), (8, 0.0), (8, 1.0), (9, 2.0), (9, 0.5)] {
            let mut state = skewed;
            state[place] = wrong;
            assert!(rule().used(&state).is_err(), "{state:?}");
        }
        assert!(rule().used(&skewed[..9]).is_err() && rule().used(&skewed[..7]).is_err());
        let nothing = Decision::Refused { reason: REFUSAL.into() };
        assert_eq!(rule().debit(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], &pay).unwrap(), nothing);
        assert!(GaussianRule::new(1.0, 0.0, None).is_err() && GaussianRule::new(0.0, 0.1, None).is_err());
        assert!(GaussianRule::new(1.0, 0.1, Some(1.0)).is_err());
    }

    #[test]
    fn the_largest_that_fits_is_found_to_the_last_digits_with_few_questions() {
        for exact in [2e-14, 1e-3, 0.999, 1.0, 5.0, 1e9] {
            let asked = std::cell::Cell::new(0);
            let found = largest(|x| {
                asked.set(asked.get() + 1);
                x <= exact
            });
            assert!(found <= exact && found >= exact * (1.0 - 3e-15), "{found} {exact}");
            assert!(asked.get() < 130, "{exact}: {}", asked.get());
        }
        assert_eq!(largest(|_| false), 0.0);
        assert!(largest(|_| true) >= 1e12);
    }

    #[test]
    fn few_digits_are_never_above() {
        for x in [1.0, 1.999, 0.7, 3e-7, 123.4] {
            let rounded = rounded_down(x);
            assert!(rounded <= x && rounded * (1.0 + 1.0 / 32.0) > x);
            assert_eq!(rounded_down(rounded), rounded);
        }
        assert_eq!((rounded_down(-1.0), rounded_down(1.999), rounded_down(1.97)), (0.0, 1.96875, 1.96875));
    }
}
