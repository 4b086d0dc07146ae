### 記憶のメモ、一覧、訂正、消去

## メモ

noted-privately = あなただけのメモとして記録しました。あなたの質問に関係するときに思い出します。`forget last` で消せます。
noted = 記録しました。この{ channel }で、質問に関係するときに思い出します。`forget last` で消せます。
nothing-to-note = 覚えておくことを教えてください。例：「remember that お茶は4時」
proposes-note = これを覚えておきましょうか。よければ `yes` と送ってください：「{ $text }」
not-noted = 書き込めなかったため、記憶に残りません。ディスクがいっぱいかもしれません。後でもう一度教えてください。

## 一覧

list-line = { $number }. [{ $date }] { $told }
list-line-corrected = { $number }. [{ $date }] { $told }（{ $corrected }に訂正）
list-noted = あなたのメモ：{ $text }
list-said = ほかの人への発言：{ $text }
list-told = ボットへの発言：{ $text }（回答：{ $answer }）
list-told-only = ボットへの発言：{ $text }
list-hint = `forget { $first }` で項目を消し、`correct { $first }: …` で訂正できます。
list-hint-more = `forget { $first }` で項目を消し、`correct { $first }: …` で訂正、`memory more` で古いものを表示できます。
list-hint-more-words = `forget { $first }` で項目を消し、`correct { $first }: …` で訂正できます。ほかにもあるので、語を足すと絞り込めます。
recalled-hint = `forget 1` で上の1番を消し、`correct 1: …` で訂正できます。
nothing-found = ここでのあなたの発言の記憶に、これらの語をすべて含むものはありません。
nothing-more = ここでのあなたの発言の記憶は、これですべてです。
nothing-listed = ここでのあなたの発言は、何も記憶していません。
list-ends-after = 一覧は{ $listed }件までです。`memory search 語` で、それより古いものを探せます。
list-again = 番号が何を指すのか分からなくなりました。`memory` か `why` と送り、表示された番号を使ってください。
no-such-number = ここで最後に見た一覧に{ $number }番はありません（全{ $listed }件）。`memory` で表示し直せます。
item-gone = { $number }番だったものは、すでに忘れました。残りは `memory` で見られます。
item-changed = { $number }番だったものは内容が変わっているため、そのままにしました。`memory` か `why` で表示し直せます。
not-your-item = { $number }番はほかの人の発言です。変更できるのは、本人か{ moderator }だけです。

## 訂正

nothing-to-correct = 正しい内容を書いてください。例：「correct { $number }: お茶は5時」
nothing-stated = { $number }番は質問で、その回答は以前の発言を引用しただけです。引用元を訂正してください。`memory search 語` で番号付きで表示されます。
corrected-item = 訂正しました。今後は{ $number }番の代わりにこの内容を使います。元の発言は、以前の内容としてだけ残します。
already-corrected = { $by }さんが{ $at }に訂正済みです。`memory search 語` か `why` で表示し、現在の内容を訂正してください。

## 消去

nothing-to-forget = ここには、忘れるべきあなたの発言はありません。
not-yours-to-forget = ほかの人の発言もあるため、すべてを忘れさせられるのは{ moderator }だけです。「{ $forget_last }」で、あなたの最後の発言を消せます。
not-your-message = 返信先のメッセージについて覚えているあなたの発言はないため、何も忘れていません。返信ではなく「{ $forget_last }」と送ると、ここでのあなたの最後の発言を消せます。
forgot-turn = { $quotes ->
    [0] 忘れました：{ $what }、そこから覚えたすべて。
   *[other] 忘れました：{ $what }、そこから覚えたすべて、それを引用した後の回答{ $quotes }件。
}
forgotten-exchange = { $at }のあなたの発言とその回答
forgotten-heard = { $at }にほかの人に向けたあなたの発言
forgotten-note = { $at }のあなたのメモ
forgotten-last = ここでのあなたの最後の発言
forgot-waiting-turn = 忘れました：保存待ちだった、あなたの最後の発言。現在、記憶に接続できません。もし保存されていた場合は、復旧後にもう一度「forget last」と送ってください。
forgot-item = { $earlier ->
    [0] 忘れました：{ $number }番だったものと、そこから覚えたすべて。
   *[other] 忘れました：{ $number }番だったものと、そこから覚えたすべて、訂正前の版{ $earlier }件。
}
forgot-all = 忘れました：この会話でのすべての発言。
forgot-session = 忘れました：この{ conversation }のやり取り全{ $turns }件。
forgot-audience = 忘れました：この{ channel }のすべての{ conversation }のやり取り全{ $turns }件。
moderator-needed = { channel }全体を忘れさせられるのは{ moderator }だけです。「{ $forget_last }」で、あなたの最後の発言を消せます。
held = （この場所はリーガルホールドの対象です。今後は誰にも表示されませんが、終了まで運用者が写しを保管します。）
still-in-file = （もう使いませんが、本文がまだファイルに残っています。書き込めなかったためで、ディスクがいっぱいかもしれません。書き込めるようになり次第、削除します。）
removed-later = まだ削除できていないボットのメッセージが{ $count }件あります。引き続き試みます。
stays-visible = ボットのメッセージ{ $count }件が表示されたままです。理由：{ $why }。
store-needed = 現在、記憶に接続できないため、実行できません。後でもう一度お試しください。

## 人を忘れる

kept-of-person = { $accounts ->
    [0] { $questions }とその回答、ほかの人への{ $messages }、{ $notes }（{ $conversations }）
    [1] { $questions }とその回答、ほかの人への{ $messages }、{ $notes }（{ $conversations }）
   *[other] { $questions }とその回答、ほかの人への{ $messages }、{ $notes }（{ $conversations }、連携アカウント{ $accounts }件）
}
ask-forget-me = ボットのいるすべての場所で、あなたに関するすべてを忘れます：{ $kept }、回答への評価、ほかの人への回答に含まれる分。あなたへの回答も取り下げます。元に戻すことはできません。実行するには `{ $command }` と送ってください。
forgot-me = あなたに関するすべてを忘れました：{ $kept }、回答への評価。
forgot-me-repeated = それを引用または繰り返していた、ほかの回答{ $count }件も空にしました。
forgot-me-accounts = アカウントの連携も解除されました。
forgot-me-out-of-reach = 次のものには手が届きません：ここにあるあなた自身のメッセージ、それについてほかの人が書いたもの、モデルのサービスが保管するもの、運用者のバックアップ。{ channel }で「覚えないで」と指定した設定は、今後も有効です。
forgot-me-held = { $count }か所がリーガルホールドの対象です。そこでの発言は今後誰にも表示されませんが、終了まで運用者が写しを保管します。

## 自分のデータの写し

export-under-way = あなたのデータをまとめているところです。お待ちください。
nothing-kept-of-you = あなたに関するものは何も保管していません。
handed-over-directly = ダイレクトメッセージで送りました。
handed-over-here = あなたに関して保管しているすべて（{ $count }件）です。プログラム用の JSON と、読むための Markdown があります。
handed-over-at = あなたに関して保管しているすべて（{ $count }件）は { $paths } にあります。ほかの人は読めません。
not-handed-over = あなたのデータを渡せませんでした。理由：{ $why }。運用者は `muninn export mine.json --person { $person }` でファイルを作れます。
no-copy-disk = ファイルを書き込めませんでした。ディスクがいっぱいかもしれません
no-copy-too-much = { $files }個を超えるファイルが必要です
no-copy-late = { $minutes }分以上かかりました
no-copy-unreadable = 書いたものを読み戻せません（{ $error }）。もう一度頼んでください

## 先に確認する

proposes-call =
    これを実行しましょうか。{ $minutes }分以内に `yes` と送ってください。それまでは何もしません。

    { $call }
not-yours-to-approve = 決められるのは、私が尋ねた本人だけです。
approval-over = お尋ねしてから{ $minutes }分以上たったため、実行しません。もう一度頼んでください。
approval-gone = 何をお尋ねしたのかもう分からないため、実行しません。もう一度頼んでください。
declined = では、実行しません。
approval-unknown = `{ $tool }` はすでに始めていて、結果が分かりません。あちらで確かめてください。二度は実行しません。
decided-before = すでに決まっているため、今は何もしていません。そのときの返事：{ $said }
decided-before-result-gone = すでに決まっているため、今は何もしていません。その結果はもう保存されていません。
call-done = 完了しました：`{ $tool }`。
call-failed = `{ $tool }` を試しましたが、失敗しました：{ $error }。
call-not-offered = ここではもう使えません
call-more = … ほか{ $count }件

copy-title = Muninn が { $who } について保存しているもの
copy-title-part = Muninn が { $who } について保存しているもの（{ $part }）
copy-where = { $at } { $place }（{ $platform }）
copy-asked = 私の質問
copy-said = ほかの人への私の発言
copy-noted = 私が記録を頼んだこと
copy-what = { $what }：
copy-what-corrected = { $what }（{ $date }に訂正）：
copy-file = 添付ファイル { $name }：
copy-answer = それへの回答：
copy-answer-of = { $answer }（{ $date }）
copy-liked = 回答 { $answer } を良いと評価しました。
copy-disliked = 回答 { $answer } を悪いと評価しました。
