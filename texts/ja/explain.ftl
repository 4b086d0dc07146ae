### なぜ：回答が何に基づくか

why-answered = 最後に答えた質問：{ $question }
why-understood = 解釈：{ $question }
why-cypher = 実行した Cypher：
why-trust-file = メッセージに添付されたファイル、またはそれに基づく回答に基づいています。リンクは文字として表示されることがあります。
why-trust-tool = ツールの結果、またはそれに基づく回答に基づいています。リンクは文字として表示されることがあります。
why-trust-documents = チームの文書や記録、またはそれに基づく回答に基づいています。リンクは文字として表示されることがあります。
why-removed = その後削除されたソースに基づくため、内容を表示できません：{ $names }。
why-recalled-nothing = 思い出したこと：なし。
why-recalled = 思い出したこと：
recalled-note = { $number }. { $score } { $author }さんのメモ（{ $date }）：{ $said }
recalled-turn = { $number }. { $score } [{ $date } { $author }] { $said }
recalled-message = { $number }. { $score } { $author }さんの発言（{ $date }）：{ $said }
recalled-message-in = { $number }. { $score } { $place }での{ $author }さんの発言（{ $date }）：{ $said }
why-feedback = フィードバック：👍 { $good }、👎 { $bad }。

## 誰が書き、いくらかかったか

why-written = 作成：{ $model }（{ $cost }）。
why-written-knowledge = 作成：{ $model }、チームのナレッジグラフに基づく（{ $cost }）。
why-written-documents = 作成：{ $model }、チームの文書と記録に基づく（{ $cost }）。
why-the-model = モデル
why-cost = { $seconds }秒、{ $read }、{ $written }
why-cost-one-call = { $cost }、呼び出し1回
why-cost-calls = { $cost }、呼び出し{ $count }回：{ $calls }
why-quotes-knowledge = モデルは使わず、チームのナレッジグラフの内容を列挙しています。
why-quotes-documents = モデルは使わず、チームの文書と記録を引用しています。
why-quotes-memory = モデルは使わず、記憶を引用しているだけです。
why-not-answered = これには何も答えていません。

## ツール

why-tools = ツール：
why-critic-nothing = 検証役からの追加の質問はありません。
why-critic-asked = 検証役の質問：{ $questions }
why-tool = - { $name } { $arguments }：{ $outcome }、{ $ms }ミリ秒
why-tool-repaired = - { $name } { $arguments }：{ $outcome }、書き直し{ $repairs }回、{ $ms }ミリ秒
tool-failed = 失敗：{ $error }
tool-found = { $count }件
tool-found-nothing = 該当なし
tool-proposed = 先に確認

## ナレッジ

why-made-from = 使ったもの：
source-score = （スコア { $score }）
source-changed = （その後変更あり）
source-more = - ほか{ $count }件
