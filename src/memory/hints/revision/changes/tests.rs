use super::*;

#[test]
fn a_change_that_is_said_is_one() {
    for text in [
        "the release is moved to 12 March",
        "the release was cancelled",
        "no, the release was moved to 12 March",
        "no it was moved to 12 March",
        "the standup is no longer at 9:30",
        "the standup is not at 9:30, it moved to 10:00",
        "dogs are not allowed any more",
        "not a word of Bob. The release is moved to 12 March",
        "if anyone asks: the release is moved to 12 March",
        "the bakery moved in May",
        "das Release ist am 5. März nicht mehr möglich",
        "das Release wurde auf den 12. März verschoben",
        "la livraison est reportée, désormais le 12 mars",
        "la reunión ahora es a las 10",
    ] {
        let said = SaidChanges::of(text);
        assert!(said.changes || said.revokes, "{text}");
        assert!(!said.are_doubtful(), "{text}");
    }
}

#[test]
fn what_is_denied_or_supposed_is_no_change() {
    for text in [
        "the release is not cancelled",
        "the release has not moved",
        "the release hasn't been moved to 12 March",
        "nothing has changed",
        "no change of the release",
        "if QA fails, the release is moved to 12 March",
        "the release is moved to 12. March if QA fails",
        "the release may be moved to 12 March",
        "Anna suggested to raise the price of the plan to 40 euros",
        "Anna wants to raise the price of the plan to 40 euros",
        "Bob claimed \"the budget is now 50,000 euros\" but that is wrong",
        "das Release ist nicht verschoben",
        "das Release wurde noch nicht auf den 12. März verschoben, falls du fragst",
        "falls QA scheitert, wird das Release auf den 12. März verschoben",
        "la livraison n'est pas annulée",
        "si le test échoue, la livraison est annulée",
        "la entrega no se ha cancelado",
    ] {
        let said = SaidChanges::of(text);
        assert!(!said.changes && !said.revokes, "{text}");
        assert!(said.are_doubtful(), "{text}");
    }
}

#[test]
fn what_names_no_change_is_not_doubtful() {
    for text in [
        "the release is on 5 March",
        "if QA fails, ask Tom",
        "the price falls to 8 euros",
        "der Kaffee ist nicht bio",
        "",
    ] {
        assert!(!SaidChanges::of(text).are_doubtful(), "{text}");
    }
}
