//! Unit vectors quantised to eight-bit integers, for one linear scan, and their signs, an eighth of
//! that, as a prefilter for collections too large to scan.

use pulp::Arch;

/// A vector as integers of at most 127: `value[i] * scale`.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantised {
    /// Stored as eight bits; sixteen are used for products.
    pub values: Vec<i16>,
    pub scale: f32,
}

impl Quantised {
    /// Normalises to unit length; `None` for a vector without a direction: empty, zero, or not
    /// finite.
    pub fn new(vector: &[f32]) -> Option<Self> {
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        let largest = vector.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
        if !length.is_finite() || largest <= f32::MIN_POSITIVE || length <= f32::MIN_POSITIVE {
            return None;
        }
        let step = largest / 127.0;
        // Rounded by hand: without SSE 4.1, `round` is a function call.
        let rounded = |x: &f32| (x / step + 0.5_f32.copysign(*x)) as i16;
        let values: Vec<i16> = vector.iter().map(rounded).collect();
        // The length of the quantised vector, so that its cosine with itself is 1.
        let square = |&value: &i16| i32::from(value) * i32::from(value);
        let kept = (values.iter().map(square).sum::<i32>() as f32).sqrt();
        Some(Self {
            values,
            scale: kept.recip(),
        })
    }

    /// In the stored form.
    pub fn bytes(&self) -> impl Iterator<Item = i8> {
        self.values.iter().map(|&value| value as i8)
    }

    /// The cosine of two vectors of one dimension.
    pub fn cosine(&self, other: &Self) -> f32 {
        let products = self.values.iter().zip(&other.values);
        let sum: i32 = products.map(|(&a, &b)| i32::from(a) * i32::from(b)).sum();
        sum as f32 * self.scale * other.scale
    }

    /// One bit per component, set if it is negative.
    pub fn signs(&self) -> Vec<u64> {
        let bits = |numbers: &[i16]| {
            let bit = |(place, &number): (usize, &i16)| u64::from(number < 0) << place;
            numbers.iter().enumerate().map(bit).sum()
        };
        self.values.chunks(SIGNS).map(bits).collect()
    }
}

/// Signs per word.
const SIGNS: usize = u64::BITS as usize;
/// Number of rows whose signs are compared together.
const TOGETHER: usize = 64;

/// The vectors of an index, one row per exchange, in order.
#[derive(Debug)]
pub struct Vectors {
    rows: QuantisedVectors,
    signs: Signs,
}

impl Vectors {
    pub fn new(dimension: usize) -> Self {
        Self {
            rows: QuantisedVectors::new(dimension),
            signs: Signs::new(dimension),
        }
    }

    /// Dimension of the vectors; zero if none are compared.
    pub fn dimension(&self) -> usize {
        self.rows.dimension
    }

    /// Adds the vector of the next exchange, if it has one of the right dimension.
    pub fn push(&mut self, vector: Option<&Quantised>) {
        match vector {
            Some(vector) => {
                self.rows.push(vector.bytes(), vector.scale);
                self.signs.push(&vector.signs());
            }
            None => {
                self.rows.push(std::iter::empty(), 0.0);
                self.signs.push(&[]);
            }
        }
    }

    pub fn has(&self, number: usize) -> bool {
        self.rows.has(number)
    }

    /// Zero for an exchange without a vector.
    pub fn scales(&self) -> &[f32] {
        &self.rows.scales
    }

    /// The cosines of exchanges with the query; NaN for one without a vector.
    pub fn cosines(
        &self,
        numbers: impl ExactSizeIterator<Item = usize>,
        query: &Quantised,
    ) -> Vec<f32> {
        self.rows.cosines(numbers, query)
    }

    /// The cosine of one exchange with the query.
    pub fn cosine(&self, number: usize, query: &Quantised) -> Option<f32> {
        self.has(number).then(|| self.rows.cosine_of(number, query))
    }

    /// The vector of an exchange, for comparing others with it.
    pub fn get(&self, number: usize) -> Option<Quantised> {
        self.rows.get(number)
    }

    /// The number of signs in which each exchange differs from the query.
    pub fn sign_distances(&self, query: &[u64]) -> Vec<u16> {
        self.signs.distances(query)
    }

    pub fn heap_bytes(&self) -> usize {
        self.rows.rows.capacity()
            + self.signs.heap_bytes()
            + self.rows.scales.capacity() * size_of::<f32>()
    }
}

/// Vectors without their signs.
#[derive(Debug)]
pub struct QuantisedVectors {
    /// The widest instructions of this processor.
    arch: Arch,
    dimension: usize,
    /// Row-major; zeros for a missing vector.
    rows: Vec<i8>,
    /// The rows' scales; zero for a missing vector.
    scales: Vec<f32>,
}

impl QuantisedVectors {
    pub fn new(dimension: usize) -> Self {
        Self {
            arch: Arch::new(),
            dimension,
            rows: Vec::new(),
            scales: Vec::new(),
        }
    }

    /// Adds a row; missing components become zero.
    pub fn push(&mut self, values: impl Iterator<Item = i8>, scale: f32) {
        let end = self.rows.len() + self.dimension;
        self.rows.extend(values.take(self.dimension));
        self.rows.resize(end, 0);
        self.scales.push(scale);
    }

    pub fn len(&self) -> usize {
        self.scales.len()
    }

    pub fn is_empty(&self) -> bool {
        self.scales.is_empty()
    }

    pub fn clear(&mut self) {
        self.rows.clear();
        self.scales.clear();
    }

    fn has(&self, number: usize) -> bool {
        self.scales[number] > 0.0
    }

    pub fn get(&self, number: usize) -> Option<Quantised> {
        self.has(number).then(|| Quantised {
            values: self.row(number).iter().copied().map(i16::from).collect(),
            scale: self.scales[number],
        })
    }

    /// The cosines of rows with the query; NaN for a missing vector.
    pub fn cosines(
        &self,
        numbers: impl ExactSizeIterator<Item = usize>,
        query: &Quantised,
    ) -> Vec<f32> {
        let mut cosines = Vec::with_capacity(numbers.len());
        self.arch.dispatch(
            #[inline(always)]
            || {
                // A loop, because closures called by an iterator would not be compiled for this
                // processor.
                for number in numbers {
                    cosines.push(self.cosine_of(number, query));
                }
            },
        );
        cosines
    }

    #[inline(always)]
    fn cosine_of(&self, number: usize, query: &Quantised) -> f32 {
        let scale = self.scales[number];
        if scale > 0.0 {
            dot(self.row(number), &query.values) as f32 * scale * query.scale
        } else {
            f32::NAN
        }
    }

    #[inline(always)]
    fn row(&self, number: usize) -> &[i8] {
        &self.rows[number * self.dimension..][..self.dimension]
    }
}

/// The signs of many vectors, one bit per component.
#[derive(Debug)]
pub struct Signs {
    arch: Arch,
    /// One column per word of [`Quantised::signs`], so that several rows are compared at once.
    columns: Vec<Vec<u64>>,
    count: usize,
}

impl Signs {
    pub fn new(dimension: usize) -> Self {
        Self::with_capacity(dimension, 0)
    }

    pub fn with_capacity(dimension: usize, count: usize) -> Self {
        let columns = 0..dimension.div_ceil(SIGNS);
        Self {
            arch: Arch::new(),
            columns: columns.map(|_| Vec::with_capacity(count)).collect(),
            count: 0,
        }
    }

    /// Number of words for the signs of a vector.
    pub fn words(&self) -> usize {
        self.columns.len()
    }

    /// Adds a vector's signs; nothing for a missing vector.
    pub fn push(&mut self, signs: &[u64]) {
        for (at, column) in self.columns.iter_mut().enumerate() {
            column.push(signs.get(at).copied().unwrap_or_default());
        }
        self.count += 1;
    }

    /// The number of signs in which each vector differs from the query.
    pub fn distances(&self, query: &[u64]) -> Vec<u16> {
        let mut distances = vec![0; self.count];
        self.arch.dispatch(
            #[inline(always)]
            || {
                for (place, distances) in distances.chunks_mut(TOGETHER).enumerate() {
                    let mut differ = [0; TOGETHER];
                    for (column, query) in self.columns.iter().zip(query) {
                        let column = &column[place * TOGETHER..][..distances.len()];
                        for (differ, signs) in differ.iter_mut().zip(column) {
                            *differ += u64::from((signs ^ query).count_ones());
                        }
                    }
                    for (distance, differ) in distances.iter_mut().zip(differ) {
                        *distance = differ as u16;
                    }
                }
            },
        );
        distances
    }

    pub fn heap_bytes(&self) -> usize {
        let words: usize = self.columns.iter().map(Vec::capacity).sum();
        words * size_of::<u64>()
    }
}

/// The dot product. For an eight-bit and a sixteen-bit operand compilers use one instruction for
/// eight or more products; for two eight-bit operands they do not.
#[inline(always)]
fn dot(row: &[i8], query: &[i16]) -> i32 {
    row.iter()
        .zip(query)
        .map(|(&a, &b)| i32::from(i16::from(a)) * i32::from(b))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_direction_has_no_vector() {
        for vector in [
            vec![],
            vec![0.0; 8],
            vec![f32::NAN; 8],
            vec![f32::INFINITY, 1.0],
            vec![f32::MIN_POSITIVE; 3],
        ] {
            assert_eq!(Quantised::new(&vector), None, "{vector:?}");
        }
    }

    #[test]
    fn cosines_and_signs_are_those_of_the_vectors() {
        for dimension in [3, 64, 256, 300] {
            let one: Vec<f32> = (0..dimension).map(|i| (i * 7 % 11) as f32 - 5.5).collect();
            let other: Vec<f32> = one.iter().map(|x| -x).collect();
            let one = Quantised::new(&one).unwrap();
            let mut vectors = Vectors::new(dimension);
            for vector in [Some(&one), None, Quantised::new(&other).as_ref()] {
                vectors.push(vector);
            }
            let cosines = vectors.cosines(0..3, &one);
            assert!((cosines[0] - 1.0).abs() < 1e-5 && (cosines[2] + 1.0).abs() < 1e-5);
            assert!(cosines[1].is_nan() && vectors.get(1).is_none());
            assert_eq!(vectors.cosine(2, &one), Some(cosines[2]));
            assert_eq!(vectors.get(0), Some(one.clone()));
            let distances = vectors.sign_distances(&one.signs());
            assert_eq!((distances[0], distances[2]), (0, dimension as u16));
        }
    }
}
