use super::*;

fn note(text: &str) -> Command {
    Command::Note(text.to_owned())
}

fn made(everywhere: bool, life: Option<&str>) -> Command {
    let life = life.map(str::to_owned);
    Command::Token(TokenDeed::Make { everywhere, life })
}

fn forget_me(is_confirmed: bool) -> Command {
    Command::Forget(ForgetWhat::Me { is_confirmed })
}

fn corrected(number: u32, text: &str) -> Command {
    let text = text.to_owned();
    Command::Correct { number, text }
}

#[test]
fn a_sentence_is_a_command_only_where_it_is_surely_meant_so() {
    for (text, command) in [
        ("remember that tea is at 4", Some(note("tea is at 4"))),
        ("Do you remember that tea is at 4?", None),
        ("note that the door is open", None),
        ("Notes: none", None),
        ("memories", None),
        ("correct 2: Friday", Some(corrected(2, "Friday"))),
        ("correct 2 of them", None),
        ("Forget 2", Some(Command::Forget(ForgetWhat::Item(2)))),
        ("forget it", None),
        ("Forget that", Some(Command::Forget(ForgetWhat::Last))),
        // What may be a question deletes nothing.
        ("Forget that?", None),
        ("please delete my last message ?", None),
        ("forget 2?", None),
        ("forget me yes?", None),
        ("Forget me.", Some(forget_me(false))),
        ("forget me yes", Some(forget_me(true))),
        ("Yes, forget me!", Some(forget_me(true))),
        ("forget me not", None),
        ("Link my accounts.", Some(Command::Link(None))),
        (
            "link K7QF-92mx",
            Some(Command::Link(Some("k7qf-92mx".to_owned()))),
        ),
        ("link?", None),
        ("link please", None),
        ("link follow-up", None),
        ("unlink my account", Some(Command::Unlink)),
        ("Export mine", Some(Command::ExportMine)),
        ("export my data!", Some(Command::ExportMine)),
        ("export my data to the archive", None),
        ("export mines", None),
        ("Web", Some(Command::Web)),
        ("web sign out", Some(Command::WebSignOut)),
        ("web?", None),
        ("web page", None),
        ("mcp token", Some(made(false, None))),
        ("MCP token everywhere", Some(made(true, None))),
        ("mcp token for 30 days", Some(made(false, Some("30 days")))),
        (
            "mcp token everywhere for 12h.",
            Some(made(true, Some("12h"))),
        ),
        ("mcp token please", None),
        ("mcp", Some(Command::Token(TokenDeed::List))),
        ("mcp tokens", Some(Command::Token(TokenDeed::List))),
        (
            "mcp revoke 2",
            Some(Command::Token(TokenDeed::Revoke(Some(2)))),
        ),
        (
            "mcp revoke all",
            Some(Command::Token(TokenDeed::Revoke(None))),
        ),
        ("mcp revoke it", None),
        ("mcp is nice", None),
    ] {
        assert_eq!(Command::parse_sentence(text), command, "{text:?}");
    }
}

#[test]
fn a_button_holds_what_it_is_about() {
    let item = ShownItem {
        number: 10,
        id: "0192f0c4-3b5e-7c11-8f00-000000000001".to_owned(),
        version: u64::MAX,
    };
    assert!(item.token().len() <= 64);
    assert_eq!(ShownItem::parse(&item.token()), Some(item));
    for other in [
        "", "1", "1.ff", "1.ff.", "x.ff.a", "1.xx.a", "1.ff.a b", "1.ff.a.b",
    ] {
        assert_eq!(ShownItem::parse(other), None, "{other:?}");
    }
}

#[test]
fn words_make_commands() {
    for (text, command) in [
        ("help", Command::Help),
        (" WHY ", Command::Why),
        ("history", Command::History),
        ("forget  last", Command::Forget(ForgetWhat::Last)),
        ("forget session", Command::Forget(ForgetWhat::Session)),
        ("forget thread", Command::Forget(ForgetWhat::Session)),
        ("Forget Room", Command::Forget(ForgetWhat::Audience)),
        ("forget channel", Command::Forget(ForgetWhat::Audience)),
        ("usage", Command::Usage),
        ("link", Command::Link(None)),
        ("link k7qf92mx", Command::Link(Some("k7qf92mx".to_owned()))),
        ("unlink", Command::Unlink),
        ("about", Command::About),
        ("backfill", Command::Backfill(None)),
        (
            "Backfill since 2026-01-31",
            Command::Backfill(Some("2026-01-31".to_owned())),
        ),
        (
            "backfill the wall",
            Command::Unknown("backfill the wall".to_owned()),
        ),
        ("catch me up", Command::CatchUp(None)),
        ("What did I miss?", Command::CatchUp(None)),
        (
            "catch up since last Monday",
            Command::CatchUp(Some("last monday".to_owned())),
        ),
        (
            "what did I miss in the film",
            Command::Unknown("what did I miss in the film".to_owned()),
        ),
        (
            "catch up since",
            Command::Unknown("catch up since".to_owned()),
        ),
        (
            "Mute",
            Command::Attend(Attention::Muted, Scope::Conversation),
        ),
        (
            "mute thread",
            Command::Attend(Attention::Muted, Scope::Conversation),
        ),
        (
            "mute room",
            Command::Attend(Attention::Muted, Scope::Audience),
        ),
        (
            "unmute",
            Command::Attend(Attention::Open, Scope::Conversation),
        ),
        (
            "unmute channel",
            Command::Attend(Attention::Open, Scope::Audience),
        ),
        (
            "only when mentioned",
            Command::Attend(Attention::Mentioned, Scope::Conversation),
        ),
        (
            "only when mentioned channel",
            Command::Attend(Attention::Mentioned, Scope::Audience),
        ),
        ("off", Command::OffTheRecord(Scope::Conversation)),
        ("off channel", Command::OffTheRecord(Scope::Audience)),
        ("On room", Command::OnTheRecord(Scope::Audience)),
        ("on thread", Command::OnTheRecord(Scope::Conversation)),
        ("off we go", Command::Unknown("off we go".to_owned())),
        ("Don’t remember me here.", Command::OptOut),
        ("do not  remember me here", Command::OptOut),
        ("remember me here", Command::OptIn),
        (
            "remember channel",
            Command::Remember(ChannelMemory::Channel),
        ),
        (
            "remember this room",
            Command::Remember(ChannelMemory::Channel),
        ),
        (
            "remember only what is asked",
            Command::Remember(ChannelMemory::Asked),
        ),
        (
            "remember me there",
            Command::Unknown("remember me there".to_owned()),
        ),
        (
            "Remember that the Boiler man comes\non Thursday.",
            note("the Boiler man comes\non Thursday."),
        ),
        ("please remember that: tea is at 4", note("tea is at 4")),
        ("remember that channel", note("channel")),
        ("note: tea is at 4", note("tea is at 4")),
        (
            "note tea is at 4",
            Command::Unknown("note tea is at 4".to_owned()),
        ),
        (
            "remember that",
            Command::Unknown("remember that".to_owned()),
        ),
        (
            "Remember that evening in Oslo?",
            Command::Unknown("Remember that evening in Oslo?".to_owned()),
        ),
        ("Memory", Command::Memory(Listing::Newest)),
        (
            "what do you remember about me?",
            Command::Memory(Listing::Newest),
        ),
        (
            "What do you know about me?",
            Command::Memory(Listing::Newest),
        ),
        ("Forget that.", Command::Forget(ForgetWhat::Last)),
        (
            "please forget what I just told you",
            Command::Forget(ForgetWhat::Last),
        ),
        ("delete my last message", Command::Forget(ForgetWhat::Last)),
        ("forget it", Command::Unknown("forget it".to_owned())),
        (
            "forget that idea",
            Command::Unknown("forget that idea".to_owned()),
        ),
        (
            "delete what I made",
            Command::Unknown("delete what I made".to_owned()),
        ),
        ("memory more", Command::Memory(Listing::More)),
        (
            "memory search Boiler man",
            Command::Memory(Listing::Search("Boiler man".to_owned())),
        ),
        ("memory lane", Command::Unknown("memory lane".to_owned())),
        ("forget 3", Command::Forget(ForgetWhat::Item(3))),
        ("forget #12.", Command::Forget(ForgetWhat::Item(12))),
        (
            "forget 99999999999",
            Command::Forget(ForgetWhat::Item(u32::MAX)),
        ),
        (
            "forget 3 of them",
            Command::Unknown("forget 3 of them".to_owned()),
        ),
        ("Correct 2: Friday: 9 am", corrected(2, "Friday: 9 am")),
        ("correct #2 : Friday", corrected(2, "Friday")),
        (
            "correct 2 Friday",
            Command::Unknown("correct 2 Friday".to_owned()),
        ),
        ("correct 2:", corrected(2, "")),
        ("correct 2", corrected(2, "")),
        ("correct me", Command::Unknown("correct me".to_owned())),
        (
            "mute everybody",
            Command::Unknown("mute everybody".to_owned()),
        ),
        ("channel", Command::Unknown("channel".to_owned())),
        ("forget", Command::Unknown("forget".to_owned())),
        ("why not", Command::Unknown("why not".to_owned())),
        ("", Command::Unknown(String::new())),
    ] {
        assert_eq!(Command::parse(text), command, "{text:?}");
    }
}
