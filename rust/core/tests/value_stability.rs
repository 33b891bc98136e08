//! What a seed gives stays the same from version to version; a change here is a value change that the changelog marks.

use simplexdp_core::random::{Bits, SeededKeys, StreamKey};
use simplexdp_core::sampling::{DiscreteNoise, PolyaUrn, Rational, Selection, SumPreservingLaplace};

#[test]
fn streams_keep_their_values() {
    // From tests/unit/chacha20.py: words(bytes(range(32)), 5, 3).
    let mut stream = StreamKey::from_bytes(std::array::from_fn(|i| i as u8)).stream(5);
    let words = [stream.next_u64(), stream.next_u64(), stream.next_u64()];
    assert_eq!(words, [0xbbc1_4955_4a19_004f, 0x2f99_1f27_ec9a_fcb8, 0x9a65_a568_f23c_eedf]);
}

#[test]
fn seeded_keys_keep_their_values() {
    // From tests/unit/chacha20.py: child_key(42, 0).
    let mut seed = [0; 32];
    seed[0] = 42;
    let expected = [
        31, 118, 229, 38, 81, 10, 227, 106, 98, 92, 139, 92, 89, 127, 235, 180, 22, 4, 44, 206, 61, 181, 137, 179, 220,
        130, 168, 247, 164, 168, 102, 38,
    ];
    assert_eq!(SeededKeys::new(seed, 0).next_bytes(), expected);
}

#[test]
fn samplers_keep_their_values() {
    // What the first version gave.
    let key = StreamKey::from_bytes([1; 32]);
    let scale = |s| Rational::from_f64("scale", s).unwrap();
    let six = |noise: DiscreteNoise| noise.draws(6, &key, 1).unwrap();
    assert_eq!(six(DiscreteNoise::laplace(&scale(10.0)).unwrap()), [-6, -3, -4, 4, -4, -5]);
    assert_eq!(
        six(DiscreteNoise::laplace(&scale(1e6)).unwrap()),
        [-632893, 506083, -134404, 904301, -1754265, 2255141]
    );
    assert_eq!(six(DiscreteNoise::gaussian(&scale(10.0)).unwrap()), [-5, -2, -3, 3, -3, -4]);
    assert_eq!(
        six(DiscreteNoise::gaussian(&scale(1e6)).unwrap()),
        [-567357, 440547, -68868, -838766, -1295513, 1206565]
    );
    let mut closed = [0; 6];
    SumPreservingLaplace::new(&scale(4.0), 6).unwrap().sample(&mut key.stream(0), &mut closed).unwrap();
    assert_eq!(closed, [0, 5, -7, 2, -2, 2]);
    let mut composed = [0; 30];
    SumPreservingLaplace::new(&scale(4.0), 30).unwrap().sample(&mut key.stream(0), &mut composed).unwrap();
    assert_eq!(composed[..6], [-8, -7, 0, -2, -8, -2]);
    let urn = PolyaUrn::new(0.5, &[3.0, 0.0, 9.0], &[0.5; 3]).unwrap();
    assert_eq!(urn.sample(&mut key.stream(0), 10).unwrap(), [2, 2, 2, 2, 2, 2, 2, 2, 2, 2]);
    let table = Selection::new(&(0..100).map(|i| -0.1 * f64::from(i)).collect::<Vec<_>>()).unwrap();
    let mut stream = key.stream(0);
    assert_eq!([(); 6].map(|()| table.sample(&mut stream)), [14, 12, 12, 9, 14, 16]);
}
