//! Estimates the number of tokens in a text without a tokenizer, on the high side.
//!
//! Services tokenize differently and most do not say how. So each character counts with about its highest cost in
//! `cl100k_base` and `o200k_base`, measured with npm `gpt-tokenizer` on the texts of this module's tests. Each digit
//! counts as a token, as in Gemma and Qwen. The estimate is known to be too low for made-up words of lower-case letters
//! (half) and for a text of only the rarest Chinese characters (two thirds).

use std::borrow::Cow;

use super::{ChatMessage, ChatRequest, ToolSpec};

/// Replaces the omitted middle of a text.
const GAP: &str = "\n[…]\n";

/// Tokens of an image: about what OpenAI counts for a medium size.
const PER_IMAGE: u32 = 1_000;
/// Tokens of a message beside its text: role and separators.
const PER_MESSAGE: u32 = 6;
/// Tokens of a tool beside its text.
const PER_TOOL: u32 = 16;
/// A longer run of letters and digits is not a word but a key, a hash or Base64.
const LONGEST_WORD: usize = 20;

/// Which part of a text is kept when it is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptPart {
    Head,
    Tail,
    /// With a mark in place of the middle.
    BothEnds,
}

/// The tokens of a text, rather too many than too few. Adding text never reduces the number.
pub fn estimate(text: &str) -> u32 {
    whole(total(text))
}

/// The tokens of everything in a request, without its answer.
pub fn estimate_request(request: &ChatRequest) -> u32 {
    let messages = request.messages.iter().map(estimate_message);
    let tools = request.tools.iter().map(estimate_tool);
    let images = u32::try_from(request.images.len()).unwrap_or(u32::MAX);
    messages
        .chain(tools)
        .fold(images.saturating_mul(PER_IMAGE), u32::saturating_add)
}

/// The tokens of one message, including its role.
pub fn estimate_message(message: &ChatMessage) -> u32 {
    let words = match message {
        ChatMessage::System(text) | ChatMessage::User(text) => estimate(text),
        ChatMessage::Assistant { text, tool_calls } => tool_calls
            .iter()
            .map(|call| estimate(&call.name) + estimate(&call.arguments) + PER_MESSAGE)
            .fold(estimate(text), u32::saturating_add),
        ChatMessage::Tool { call_id: _, text } => estimate(text),
    };
    words.saturating_add(PER_MESSAGE)
}

pub fn estimate_tool(tool: &ToolSpec) -> u32 {
    [&tool.name, &tool.description, &tool.parameters.to_string()]
        .into_iter()
        .map(|words| estimate(words))
        .fold(PER_TOOL, u32::saturating_add)
}

/// Cuts a text to at most `budget` tokens by [`estimate`], between two characters.
pub fn cut(text: &str, budget: u32, keep: KeptPart) -> Cow<'_, str> {
    if estimate(text) <= budget {
        return Cow::Borrowed(text);
    }
    let budget = u64::from(budget) * UNIT;
    match keep {
        KeptPart::Head => Cow::Borrowed(head(text, budget)),
        KeptPart::Tail => Cow::Borrowed(tail(text, budget)),
        KeptPart::BothEnds => {
            let gap = total(GAP);
            let Some(rest) = budget.checked_sub(gap) else {
                return Cow::Borrowed(head(text, budget));
            };
            Cow::Owned([head(text, rest / 2), GAP, tail(text, rest / 2)].concat())
        }
    }
}

/// Costs are counted in hundredths of a token.
const UNIT: u64 = 100;

fn whole(cost: u64) -> u32 {
    u32::try_from(cost.div_ceil(UNIT)).unwrap_or(u32::MAX)
}

fn head(text: &str, budget: u64) -> &str {
    let mut spent = 0;
    let end = costs(text).find_map(|(at, _, cost)| {
        spent += cost;
        (spent > budget).then_some(at)
    });
    end.map_or(text, |end| &text[..end])
}

/// The end of a text. It costs no more alone than within the text, so the budget is kept.
fn tail(text: &str, budget: u64) -> &str {
    let mut surplus = total(text).saturating_sub(budget);
    let start = costs(text).find_map(|(at, _, cost)| {
        if surplus == 0 {
            return Some(at);
        }
        surplus = surplus.saturating_sub(cost);
        None
    });
    start.map_or("", |start| &text[start..])
}

fn total(text: &str) -> u64 {
    costs(text).map(|(_, _, cost)| cost).sum()
}

/// Each character with its position and its cost there.
fn costs(text: &str) -> impl Iterator<Item = (usize, char, u64)> {
    let mut run = 0_usize;
    text.char_indices().map(move |(at, c)| {
        run = if c.is_ascii_alphanumeric() {
            run + 1
        } else {
            0
        };
        let worst = if run > LONGEST_WORD { 85 } else { 0 };
        (at, c, cost(c).max(worst))
    })
}

/// In hundredths of a token.
fn cost(c: char) -> u64 {
    match c {
        'a'..='z' => 30,
        'A'..='Z' => 40,
        ' ' => 20,
        '0'..='9' => 100,
        // Punctuation often comes in pairs that are one token; control characters do not.
        '!'..='~' => 75,
        '\0'..='\x7f' => 100,
        // Combining marks also split the surrounding word.
        '\u{300}'..='\u{36f}' => 230,
        // Latin beyond ASCII; Greek and Hebrew; Cyrillic and Arabic; the rest of two bytes.
        '\u{80}'..='\u{24f}' => 130,
        '\u{370}'..='\u{3ff}' | '\u{590}'..='\u{5ff}' => 115,
        '\u{400}'..='\u{52f}' | '\u{600}'..='\u{6ff}' => 90,
        '\u{250}'..='\u{7ff}' => 150,
        // Indic scripts, Thai, Lao.
        '\u{900}'..='\u{eff}' => 150,
        // Dashes and quotation marks.
        '\u{2010}'..='\u{2026}' => 100,
        // Kana, Han, Hangul, full-width forms.
        '\u{3000}'..='\u{33ff}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff00}'..='\u{ffef}' => 150,
        // In the worst case one token per byte.
        _ => 100 * c.len_utf8() as u64,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Texts with their tokens in `cl100k_base` and `o200k_base`.
    #[rustfmt::skip]
    const MEASURED: [(&str, u32, u32); 32] = [
        ("The raven flew over the fjord this morning and told us everything it had seen. We asked whether the deployment had finished, and it said that the third server was still waiting for a certificate. Please remember to renew it before Friday, otherwise the customers will complain again.", 55, 54),
        ("Antidisestablishmentarianism incomprehensibilities counterrevolutionary Kubernetes PostgreSQL Cloudflare misconfiguration", 19, 21),
        ("PLEASE READ THE MANUAL BEFORE CALLING THE HOTLINE ABOUT FAILED DEPLOYMENTS", 15, 16),
        ("aGVsbG8gd29ybGQhIHRoaXMgaXMgYmFzZTY0IGVuY29kZWQgdGV4dCB3aXRoIGxvdHMgb2YgY2hhcnM=QmFzZTY0RW5jb2RpbmcK", 70, 69),
        ("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 de305d54-75b4-431b-adb2-eb6b9e546014", 65, 64),
        ("pub async fn complete(&self, request: &ChatRequest) -> Result<Completion, ModelError> {\n    let model = self.model(request.purpose);\n    if !tokens.is_empty() { return Err(ModelError::Busy); }\n    Ok(answer?.finish(model, prompt)?)\n}\n", 59, 59),
        ("{\"id\":\"call_0\",\"type\":\"function\",\"function\":{\"name\":\"search\",\"arguments\":\"{\\\"q\\\":\\\"docs\\\",\\\"n\\\":[1,2,3]}\"},\"ok\":true,\"x\":null}", 42, 43),
        ("!@#$%^&*()_+-=[]{}|;':\",./<>?`~ ... --- === !!! ??? ((())) [[[]]] {{{}}} ;;; ,,, ~~~", 38, 39),
        ("3.14159265358979 2026-11-21 02:28:21 192.168.10.254 4111111111111111 00000000 17", 41, 41),
        ("Die Überprüfung der Geschäftsbedingungen ergab, daß größere Änderungen an der Rechnungsstellung nötig wären; außerdem müßte man die Öffnungszeiten prüfen.", 49, 29),
        ("L'été dernier, nous avons réservé un hôtel près de la forêt où les élèves étaient déjà passés; à côté, une pâtisserie célèbre.", 41, 29),
        ("Zażółć gęślą jaźń, a potem proszę sprawdzić, czy źródło danych zostało poprawnie skonfigurowane przez użytkowników.", 44, 38),
        ("Öğrencilerin çoğu yağmurlu günlerde kütüphaneye gidiyor, çünkü şehirdeki kafeler çok gürültülü.", 44, 33),
        ("Hôm qua tôi đã gửi báo cáo cho người quản lý, nhưng họ vẫn chưa trả lời câu hỏi của chúng tôi về ngân sách.", 56, 28),
        ("Пожалуйста, проверьте, почему последнее развёртывание не завершилось, и сообщите об этом всем участникам команды до пятницы.", 55, 31),
        ("Παρακαλώ ελέγξτε γιατί η τελευταία ενημέρωση δεν ολοκληρώθηκε και ενημερώστε όλα τα μέλη της ομάδας.", 94, 33),
        ("אנא בדקו מדוע הפריסה האחרונה לא הסתיימה והודיעו על כך לכל חברי הצוות עד יום שישי.", 78, 30),
        ("يرجى التحقق من سبب عدم اكتمال عملية النشر الأخيرة وإبلاغ جميع أعضاء الفريق بذلك قبل يوم الجمعة.", 67, 25),
        ("कृपया जांचें कि पिछला परिनियोजन पूरा क्यों नहीं हुआ और शुक्रवार से पहले टीम के सभी सदस्यों को सूचित करें।", 102, 32),
        ("கடைசி வரிசைப்படுத்தல் ஏன் முடிவடையவில்லை என்பதைச் சரிபார்த்து குழு உறுப்பினர்களுக்குத் தெரிவிக்கவும்.", 136, 32),
        ("กรุณาตรวจสอบว่าทำไมการติดตั้งครั้งล่าสุดจึงไม่เสร็จสมบูรณ์ และแจ้งให้สมาชิกทุกคนในทีมทราบก่อนวันศุกร์", 94, 42),
        ("እባክዎ የመጨረሻው ስራ ለምን እንዳልተጠናቀቀ ያረጋግጡ እና ለሁሉም የቡድን አባላት ያሳውቁ።", 142, 106),
        ("请检查上一次部署为什么没有完成，并在星期五之前通知团队的所有成员。龘靐齉爨癵驫麤", 48, 33),
        ("前回のデプロイがなぜ完了しなかったのかを確認し、金曜日までにチーム全員に知らせてください。カタカナとひらがな。", 58, 43),
        ("지난번 배포가 왜 완료되지 않았는지 확인하고 금요일 전까지 팀 전원에게 알려 주세요. 뷁쀍", 51, 30),
        ("\u{1f600}\u{1f602}\u{1f972}\u{1f525}\u{1f389}\u{1f680}\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{200d}\u{1f466}\u{1f3f3}\u{fe0f}\u{200d}\u{1f308}\u{1f1f3}\u{1f1f4}\u{1f1e9}\u{1f1ea}\u{1f44d}\u{1f3fd}\u{1f9d1}\u{200d}\u{1f4bb}\u{1fae0}\u{1fabf}", 74, 49),
        ("∀x∈ℝ: ∃y ≥ x² ⇒ ∑ᵢ αᵢ·βᵢ → ∞ ≠ ∅ ⟨ψ|φ⟩ ─│┌┐└┘ ✓✗★☆", 57, 60),
        ("# Title\n\n- **bold** item\n- `code` and [a link](https://example.com/path?x=1&y=2)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n\n", 50, 50),
        ("        \n\n\n\t\t\tfoo\n\t\t\t\tbar\n", 9, 9),
        ("Z\u{337}\u{322}\u{31b}a\u{335}\u{321}\u{315}l\u{334}\u{328}\u{300}g\u{336}\u{322}\u{308}\u{301}o\u{338}\u{327}\u{358} t\u{337}\u{321}\u{31b}e\u{335}\u{322}\u{315}x\u{334}\u{327}\u{300}t\u{336}\u{321}\u{308}\u{301}", 63, 59),
        ("\u{0}\u{1}\u{2}\u{200b}\u{200d}\u{202e}\u{feff}�", 11, 9),
        ("𐍈𐌰𐌽𒀀𒀁𓀀𓀁𝔘𝔫𝔦𝔠𝔬𝔡𝔢", 49, 49),
    ];

    #[test]
    fn is_never_under_what_was_measured_nor_far_over() {
        for (text, older, newer) in MEASURED {
            let estimate = estimate(text);
            assert!(
                estimate >= older.max(newer),
                "{estimate} < {older}, {newer}: {text}"
            );
            assert!(
                estimate <= older * 12 / 5,
                "{estimate} > {older} by far: {text}"
            );
        }
    }

    #[test]
    fn nothing_costs_nothing() {
        assert_eq!(estimate(""), 0);
        assert_eq!(estimate("a"), 1);
        assert_eq!(cut("", 0, KeptPart::BothEnds), "");
        assert_eq!(cut("word", 0, KeptPart::BothEnds), "");
    }

    #[test]
    fn cuts_where_it_is_told() {
        let text = "0123456789".repeat(3);
        assert_eq!(cut(&text, 4, KeptPart::Head), "0123");
        assert_eq!(cut(&text, 4, KeptPart::Tail), "6789");
        assert_eq!(cut(&text, 10, KeptPart::BothEnds), "01\n[…]\n89");
        assert_eq!(cut(&text, 30, KeptPart::BothEnds), text);
    }

    /// Text of many scripts, with long runs.
    fn text() -> impl Strategy<Value = String> {
        "(\\PC|[a-z0-9]{0,40}|[ -~]|\\s|\u{301}|\u{1f600}){0,60}"
    }

    proptest! {
        #[test]
        fn more_text_is_never_less(a in text(), b in text()) {
            let both = estimate(&[a.as_str(), b.as_str()].concat());
            prop_assert!(both >= estimate(&a).max(estimate(&b)));
            // Split in two, a run that is not a word may look like two words.
            let apart = estimate(&a) + estimate(&b);
            prop_assert!(both + 1 >= apart);
            prop_assert!(both <= apart + 14);
        }

        #[test]
        fn a_cut_keeps_to_its_budget_and_its_ends(text in text(), budget in 0_u32..80) {
            for keep in [KeptPart::Head, KeptPart::Tail, KeptPart::BothEnds] {
                let cut = cut(&text, budget, keep);
                prop_assert!(estimate(&cut) <= budget, "{} > {budget}", estimate(&cut));
                prop_assert!(estimate(&text) > budget || cut == text);
                match keep {
                    KeptPart::Head => prop_assert!(text.starts_with(&*cut)),
                    KeptPart::Tail => prop_assert!(text.ends_with(&*cut)),
                    KeptPart::BothEnds => {
                        let (head, tail) = cut.split_once(GAP).unwrap_or((&cut, ""));
                        prop_assert!(text.starts_with(head) && text.ends_with(tail));
                    }
                }
            }
        }
    }
}
