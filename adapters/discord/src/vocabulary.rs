//! Discord's own words.

use muninn_platform::Vocabulary;

pub(crate) const VOCABULARY: Vocabulary = Vocabulary {
    channel: "channel",
    conversation: "thread",
    moderator: "somebody who may manage messages here",
    forget_last: "/forget last",
    forget_me_for_good: "/forget everything of mine, everywhere: yes, for good",
    help: Some(HELP),
};

const HELP: &str = "\
Mention me with a question and I answer in a thread, where I follow what you say without a mention. Or use a command:
- `/ask`: ask me here, for you alone (`private`) or in a thread of its own (`thread`)
- `/why`: what my last answer was made from
- `/catchup`: what was decided, answered and left open in this channel, for you alone
- `/backfill`: read what was said in this channel before, where that is remembered (for those who may manage messages)
- `/session`: find your own conversations again
- `/note`: keep something in mind in this channel
- `/memory`: what I keep of what you said here, for you alone; `/correct`: say one of these things anew
- `/forget`: forget one of these things, your last question, this thread, this channel (for those who may manage messages), what you asked privately, or everything of yours, everywhere
- `/export`: all that I keep of yours, in all places, as files in a direct message
- `/web`: a link, for you alone, to pages that show your conversations and what answers came from
- `/link`, in a direct message: let your account here and one on another platform be one person's for me; `/unlink` undoes it
- `/mute`, `/mentions`, `/unmute`: when I answer in this thread or channel: never, only when mentioned, or when I think I am meant
- `/remember`: what I may remember of this channel, and of what you say to others here
- `/off`, `/on`: what people say to each other in this thread or channel is off the record, or may be remembered again
- `/usage`: what you and this channel have spent";
