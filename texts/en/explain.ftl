### Why: what an answer was made from

why-answered = My last answer was to: { $question }
why-understood = Understood as: { $question }
why-cypher = Cypher that was run:
why-trust-file = This answer is partly based on an attached file, or on an answer that is. Links in it may be shown as text.
why-trust-tool = This answer is partly based on what a tool gave, or on an answer that is. Links in it may be shown as text.
why-trust-documents = This answer is partly based on documents or records of the team, or on an answer that is. Links in it may be shown as text.
why-removed = Made from sources that were removed since, so nothing of them can be shown: { $names }.
why-recalled-nothing = Recalled: nothing.
why-recalled = Recalled:
# Lines of what was recalled; $score is a probability from 0 to 1.
recalled-note = { $number }. { $score } noted by { $author } on { $date }: { $said }
recalled-turn = { $number }. { $score } [{ $date }, { $author }] { $said }
recalled-message = { $number }. { $score } said by { $author } on { $date }: { $said }
recalled-message-in = { $number }. { $score } said by { $author } in { $place } on { $date }: { $said }
why-feedback = Feedback: 👍 { $good }, 👎 { $bad }.

## Who wrote it, and what that cost

# $cost is the text why-cost, with what follows it.
why-written = Written by { $model } { $cost }.
why-written-knowledge = Written by { $model } from the team's knowledge graph { $cost }.
why-written-documents = Written by { $model } from the team's documents and records { $cost }.
why-the-model = the model
why-cost = in { $seconds } s, from { $read } and { $written }
why-cost-one-call = { $cost }, in 1 call
why-cost-calls = { $cost }, in { $count } calls: { $calls }
why-quotes-knowledge = No model wrote it: it lists what the team's knowledge graph holds.
why-quotes-documents = No model wrote it: it quotes the team's documents and records.
why-quotes-memory = No model wrote it: it only quotes memory.
why-not-answered = Nothing was answered to it.

## Tools

why-tools = Tools:
why-critic-nothing = The critic asked nothing more.
why-critic-asked = The critic asked: { $questions }
why-tool = - { $name } { $arguments }: { $outcome }, in { $ms } ms
why-tool-repaired = { $repairs ->
    [one] - { $name } { $arguments }: { $outcome }, written again once, in { $ms } ms
   *[other] - { $name } { $arguments }: { $outcome }, written again { $repairs } times, in { $ms } ms
}
tool-failed = failed: { $error }
tool-found = found { $count }
tool-found-nothing = found nothing
tool-proposed = asked about first

## Knowledge

why-made-from = Made from:
source-score = (score { $score })
source-changed = (it has changed since)
source-more = - and { $count } more
