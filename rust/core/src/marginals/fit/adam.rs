//! Adam [KB15] with a step that rises for twenty iterations and then falls as a half cosine.

use super::lanes::{LANES, Lane};
use super::objective::{Logits, Objective, Workspace};
use crate::wide::widest;
use crate::{Result, interrupt};

const FIRST: f32 = 0.9;
const SECOND: f32 = 0.99;
/// Steps until the step has its full size.
const RISE: f64 = 20.0;
/// Added to the root of the second moment.
const TINY: f32 = 1e-10;

/// Takes `steps` steps from `at`; `peak` is the largest of them. `done` hears how many were taken.
pub(super) fn minimise(
    objective: &Objective,
    mut at: Logits,
    steps: usize,
    peak: f64,
    done: &mut dyn FnMut(usize),
) -> Result<Logits> {
    let mut work = Workspace::new(objective);
    let mut gradient = Logits::zeros(objective.width, objective.n);
    let (mut first, mut second) = (gradient.clone(), gradient.clone());
    for step in 1..=steps {
        interrupt::check()?;
        objective.evaluate(&mut at, &mut gradient, &mut work);
        let t = step as f64;
        let fall = 0.49 * (1.0 + (std::f64::consts::PI * t / steps as f64).cos()) + 0.02;
        let rate = peak * (t / RISE).min(1.0) * fall;
        // The two corrections of bias, taken out of the loop.
        let first_scale = (rate / (1.0 - f64::from(FIRST).powi(step as i32))) as f32;
        let second_scale = (1.0 / (1.0 - f64::from(SECOND).powi(step as i32))) as f32;
        widest(
            #[inline(always)]
            || {
                let (a, b) = (first_scale, second_scale);
                update(&mut at.levels, &gradient.levels, &mut first.levels, &mut second.levels, a, b);
                update(&mut at.components, &gradient.components, &mut first.components, &mut second.components, a, b);
            },
        );
        done(step);
    }
    Ok(at)
}

#[inline(always)]
fn update(x: &mut [Lane], g: &[Lane], first: &mut [Lane], second: &mut [Lane], first_scale: f32, second_scale: f32) {
    for (((x, g), first), second) in x.iter_mut().zip(g).zip(first).zip(second) {
        for l in 0..LANES {
            first[l] = FIRST * first[l] + (1.0 - FIRST) * g[l];
            second[l] = SECOND * second[l] + (1.0 - SECOND) * g[l] * g[l];
            x[l] -= first_scale * first[l] / ((second[l] * second_scale).sqrt() + TINY);
        }
    }
}
