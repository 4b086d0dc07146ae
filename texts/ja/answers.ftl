### 回答に添える言葉：なぜ十分でないのか、何を断ったのか

model-down = モデルに問い合わせできませんでした（{ $why }）。覚えていることだけをお伝えします：
model-down-after-tools = モデルに回答を作ってもらえませんでした（{ $why }）。見つかったことだけをお伝えします：
model-down-listed = モデルに問い合わせできませんでした（{ $why }）。発言の一覧をお伝えします：
embeddings-down = （埋め込みサービスが応答しないため、記憶を単語だけで検索しました。）
store-down = { $turns ->
    [0] （現在、記憶に接続できません。記憶なしで回答しました。このやり取りは、復旧後に保存されます。）
   *[other] （現在、記憶に接続できません。直近のやり取り{ $turns }件をもとに回答しました。このやり取りは、復旧後に保存されます。）
}
store-was-down = { $turns ->
    [0] （一時的に記憶に接続できず、記憶なしで回答しました。）
   *[other] （一時的に記憶に接続できず、直近のやり取り{ $turns }件をもとに回答しました。）
}
store-down-in-part = （現在、記憶に接続できません。見落としがあるかもしれません。このやり取りは、復旧後に保存されます。）
store-was-down-in-part = （一時的に記憶に接続できませんでした。見落としがあるかもしれません。）
store-down-later = （回答中に記憶に接続できなくなりました。このやり取りは、復旧後に保存されます。）
recall-failed = （ここでの以前の発言を確認できなかったため、それなしで回答しました。）
bracketed = （{ $text }）
knowledge-loading = チームのナレッジを読み込み中のため、検索できませんでした。
knowledge-lagging = チームのナレッジの新しい版を読み込み中です。一つ前の版を検索しました。
knowledge-words-only = 埋め込みサービスが応答しないため、チームのナレッジを単語だけで検索しました。
knowledge-graph-away = グラフの応答が間に合わなかったため、チームのナレッジを周辺情報なしで検索しました。
knowledge-not-asked = グラフが応答しないため、チームのナレッジを照会できませんでした。
budget-of-person = あなたの予算
budget-of-channel = このチャンネルの予算
budget-of-all = ボット全体の予算
budget-nearly-up = （今月の{ $whose }を80%使いました：{ $limit }のうち{ $spent }。使い切ると、モデルなしで回答します。）
look-ups-failed = （この回答のための検索はすべて失敗したため、検索結果に基づいていません。）
look-up-failed = （この回答のための検索の一部が失敗したため、足りない内容があるかもしれません。）
cut-off = （この回答は上限の{ $tokens }トークンに達したため、途中で切れています。続きを頼むか、ANSWER_TOKENS を増やしてもらってください。）
cut-short = （この回答は、モデルが一度に書ける量を超えたため、途中で切れています。続きを頼んでください。）
withheld = （この回答は不完全です。残りはモデルサービスのコンテンツフィルターに止められました。）
secret-removed = （メッセージに含まれていた秘密情報を、読み取りと保存の前に取り除きました。ほかの人がここで見た可能性があるため、新しいものに変更してください。）
files-in-part = （{ $files }は一度に読める量を超えているため、一部しか読んでいません。必要な部分だけを送ってください。）
files-need-model = （モデルがないため、メッセージに添付された内容は見ていません。）
images-not-seen = （画像は保存していないため、質問に添付された画像は見ていません。回答に必要な場合は、もう一度送ってください。）
read-in-part = （ここでの以前の発言は、一部しか読んでいません：{ $why }。）
cut-too-much = 一度に読める量を超えています
cut-limited = 一度に読める量をプラットフォームが制限しています
cut-late = プラットフォームからすべてを時間内に受け取れませんでした
cut-incomplete = プラットフォームがすべてを渡してくれません
not-kept = （このやり取りはどこにも保存できませんでした。記憶には残りません。）
stopped = （停止しました）
no-answer = 制限内では回答が見つかりませんでした。質問を絞ってください。
not-in-documents = チームの文書と記録からはお答えできません。
cited-sources = 出典：
file-page = { $file }、{ $page }ページ
card-part-of = 上位：{ $path }
card-related = 関連：{ $records }
card-place = 所在：{ $place }
file-line = { $file }、{ $line }行目
took-too-long = （{ $seconds }秒で打ち切りました。ボットの運用者は TURN_TIMEOUT を延ばせます。）
failed = こちらで問題が発生し、回答できませんでした。ログに記録されています。

## モデルなしの回答

remember-nothing = それについては何も覚えていません。
remember-nothing-noted = 覚えておきます。
asked-nothing = はい、聞いています。
welcome = どういたしまして。
forgot-nothing = まだ何も忘れていません。`memory` で、ここでのお話のうち覚えていることを一覧にし、そのあと `forget 2` で 2 番目のものを忘れます。
# To "what can you do?" and the like.
what-i-do = ここで私に話されたことや渡された文書を覚えていて、聞かれたときに引用します。何か話してから、あとで聞いてみてください。`help` で、ほかにできることを見られます。

quoted-asked = { $date } { $author }
quoted-said = { $date } { $author }（ほかの人へ）
quoted-replaced = { $heading }（{ $date }に差し替え）
quoted-newer = { $heading }（新しいもの）
quoted-answer = そのときの回答：
quoted-beside = これも関係するかもしれません：
quoted-other-time = ご指定の時期については覚えていません。別の時期の発言です：

## 受け付けられないメッセージ

too-long = メッセージが{ $chars }文字あります。読めるのは{ $limit }文字までです。分けて送るか、要点だけを送ってください。
too-fast = 送信が1分あたり{ $per_minute }件を超えています。少し待ってから、もう一度送ってください。
too-many-waiting = この会話では、待っているメッセージが多すぎます。回答が終わってから、もう一度送ってください。
unknown-command = 「{ $name }」というコマンドはありません。`help` と送ると一覧を見られます。

## モデルが答えなかった理由（文の途中）

model-unreachable = 接続できません
model-silent = 時間内に応答がありません。運用者は MODEL_TIMEOUT を延ばせます
model-unfinished = 時間内に終わりませんでした。運用者は TURN_TIMEOUT を延ばせます
model-gave-up = サービス側が待つのをやめました
model-late = 時間内に応答がありません
model-unauthorized = キーが拒否されました
model-unknown = { $model } が見つかりません
model-quota = クォータを使い切りました
model-rate-limited = レート制限を超えています
model-context = 会話が長すぎます
model-only-reasoned = 思考だけで本文がありませんでした。運用者は ANSWER_TOKENS を増やせます
model-over-budget = 今月の{ $whose }を使い切りました
model-busy = 待っているリクエストが多すぎます
model-refused = リクエストが拒否されました
model-failed = エラーが発生しました
model-broke-off = 回答が途中で切れました
model-nonsense = 回答が意味をなしていません
model-unreadable = 応答を読み取れませんでした
model-prompt = プロンプトを作れませんでした

## もう一度答える

no-such-answer = その回答はもう分かりません。忘れられたか、私の回答ではありません。
not-yours-to-ask-again = 再回答を頼めるのは、質問した本人か{ moderator }だけです。
too-late-to-ask-again = その後の発言が多すぎるため、同じ場所で答え直せません。もう一度質問してください。
