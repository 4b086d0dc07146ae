//! The number formats of each language, from CLDR: the decimal and the thousands separator.

use crate::Language;

/// The decimal separator; the thousands separator, and the number of digits from which it is used.
fn separators(language: Language) -> (char, Option<(char, usize)>) {
    match language {
        // English texts never had thousands separators; programs that read them must not break.
        Language::English => ('.', None),
        Language::German => (',', Some(('.', 4))),
        Language::French => (',', Some(('\u{202f}', 4))),
        Language::Spanish => (',', Some(('.', 5))),
        Language::Portuguese => (',', Some(('.', 4))),
        Language::Japanese => ('.', Some((',', 4))),
    }
}

pub(crate) fn counted(language: Language, number: u64) -> String {
    let digits = number.to_string();
    let separator = match separators(language).1 {
        Some((separator, from)) if digits.len() >= from => separator,
        Some(_) | None => return digits,
    };
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(separator);
        }
        grouped.push(digit);
    }
    grouped
}

pub(crate) fn with_own_point(language: Language, digits: &str) -> String {
    let (point, _) = separators(language);
    digits.replace('.', point.encode_utf8(&mut [0; 4]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_writes_numbers_in_its_own_way() {
        let numbers = [7, 4_096, 12_345, 1_234_567];
        for (language, expected) in [
            (Language::English, ["7", "4096", "12345", "1234567"]),
            (Language::German, ["7", "4.096", "12.345", "1.234.567"]),
            (Language::Spanish, ["7", "4096", "12.345", "1.234.567"]),
            (Language::Japanese, ["7", "4,096", "12,345", "1,234,567"]),
        ] {
            assert_eq!(numbers.map(|it| counted(language, it)), expected);
        }
        assert_eq!(with_own_point(Language::French, "0.51"), "0,51");
        assert_eq!(with_own_point(Language::English, "0.51"), "0.51");
    }
}
