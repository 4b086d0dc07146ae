//! Unit vectors as eight-bit integers, for one flat scan; and their signs, an eighth of that, for a
//! first look at what is too long to be scanned.

use pulp::Arch;

/// A vector as integers of at most 127: `value[i] * scale`.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantised {
    /// As eight bits they are kept; sixteen are what products are made of.
    pub values: Vec<i16>,
    pub scale: f32,
}

impl Quantised {
    /// At unit length; `None` for what has no direction: empty, zero, not finite.
    pub fn new(vector: &[f32]) -> Option<Self> {
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        let largest = vector.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
        if !length.is_finite() || largest <= f32::MIN_POSITIVE || length <= f32::MIN_POSITIVE {
            return None;
        }
        let step = largest / 127.0;
        // Rounded by hand: without SSE 4.1, `round` is a call.
        let rounded = |x: &f32| (x / step + 0.5_f32.copysign(*x)) as i16;
        let values: Vec<i16> = vector.iter().map(rounded).collect();
        // The length of what is kept, not of what was: so a vector's cosine with itself is 1.
        let square = |&value: &i16| i32::from(value) * i32::from(value);
        let kept = (values.iter().map(square).sum::<i32>() as f32).sqrt();
        Some(Self {
            values,
            scale: kept.recip(),
        })
    }

    /// As they are kept.
    pub fn bytes(&self) -> impl Iterator<Item = i8> {
        self.values.iter().map(|&value| value as i8)
    }

    /// How alike two of one length are.
    pub fn cosine(&self, other: &Self) -> f32 {
        let products = self.values.iter().zip(&other.values);
        let sum: i32 = products.map(|(&a, &b)| i32::from(a) * i32::from(b)).sum();
        sum as f32 * self.scale * other.scale
    }

    /// A bit a number, set where it is below zero.
    pub fn signs(&self) -> Vec<u64> {
        let bits = |numbers: &[i16]| {
            let bit = |(place, &number): (usize, &i16)| u64::from(number < 0) << place;
            numbers.iter().enumerate().map(bit).sum()
        };
        self.values.chunks(SIGNS).map(bits).collect()
    }
}

/// Signs in one word.
const SIGNS: usize = u64::BITS as usize;
/// Rows whose signs are compared together.
const TOGETHER: usize = 64;

/// The vectors of an index, a row an exchange, in their order.
#[derive(Debug)]
pub struct Vectors {
    rows: Rows,
    signs: Signs,
}

impl Vectors {
    pub fn new(dimension: usize) -> Self {
        Self {
            rows: Rows::new(dimension),
            signs: Signs::new(dimension),
        }
    }

    /// Length of the vectors; zero where none are compared.
    pub fn dimension(&self) -> usize {
        self.rows.dimension
    }

    /// Adds the next exchange's vector, of the right length, if it has one.
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

    /// Zero where an exchange has no vector.
    pub fn scales(&self) -> &[f32] {
        &self.rows.scales
    }

    /// The cosines of exchanges with the query, NaN where one has no vector.
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

    /// An exchange's own vector, to compare others with.
    pub fn get(&self, number: usize) -> Option<Quantised> {
        self.rows.get(number)
    }

    /// In how many signs each exchange differs from the query.
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
pub struct Rows {
    /// The widest instructions this processor has.
    arch: Arch,
    dimension: usize,
    /// Row-major; zeros where there is none.
    rows: Vec<i8>,
    /// The rows' scales; zero where there is none.
    scales: Vec<f32>,
}

impl Rows {
    pub fn new(dimension: usize) -> Self {
        Self {
            arch: Arch::new(),
            dimension,
            rows: Vec::new(),
            scales: Vec::new(),
        }
    }

    /// Adds a row; zeros take the place of numbers that are missing.
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

    /// The cosines of rows with the query, NaN where there is no vector.
    pub fn cosines(
        &self,
        numbers: impl ExactSizeIterator<Item = usize>,
        query: &Quantised,
    ) -> Vec<f32> {
        let mut cosines = Vec::with_capacity(numbers.len());
        self.arch.dispatch(
            #[inline(always)]
            || {
                // A loop, since what an iterator calls would not be compiled for this processor.
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

/// A bit for each number of many vectors.
#[derive(Debug)]
pub struct Signs {
    arch: Arch,
    /// A column a word of [`Quantised::signs`]: so several rows are compared at once.
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

    /// Words that the signs of a vector are.
    pub fn words(&self) -> usize {
        self.columns.len()
    }

    /// Adds a vector's signs; nothing for what has no vector.
    pub fn push(&mut self, signs: &[u64]) {
        for (at, column) in self.columns.iter_mut().enumerate() {
            column.push(signs.get(at).copied().unwrap_or_default());
        }
        self.count += 1;
    }

    /// In how many signs each differs from the query.
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

/// Sum of products. Of an eight-bit and a sixteen-bit number compilers make one instruction of
/// eight or more of these; of two eight-bit ones they do not.
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
