//! Old threads: all that was said in them is read.

use muninn_matrix::testing::RoomKind;

use crate::support::run;

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn coming_to_an_old_thread_it_reads_all_of_it() {
    for kind in [RoomKind::PLAIN, RoomKind::ENCRYPTED] {
        run(kind, async |chat| {
            let root = chat.say("The standup moves.").await;
            for number in 1..=130 {
                chat.say_in(&root, &format!("reply {number}")).await;
            }
            let last = chat.say_in(&root, "to ten").await;
            chat.edit(&last, "to eleven").await;
            let asked = chat.mentioning("background counted");
            chat.send_in(&root, asked).await;
            chat.finds("all of it", |said| {
                let text = &said.text;
                text.contains("The standup moves.")
                    && text.contains("130 between")
                    && text.contains("to eleven")
            })
            .await;
        });
    }
}
