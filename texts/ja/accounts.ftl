### 複数のプラットフォームのアカウントと、閲覧ページ

an-account = { $platform } のアカウント「{ $name }」
link-code = コードは `{ $code }` です。10分以内に、もう一方のプラットフォームのダイレクトメッセージで `link { $code }` と送ってください。以後、これらは一人のアカウントとして扱います。片方で私だけに話したことを、もう片方でも思い出します。クォータは共有され、`forget me` と `export mine` はすべてのアカウントに及びます。チャンネルでの発言は、そのチャンネルにとどまります。`unlink my account` で解除できます。コードは自分のアカウント専用です。ほかの人に渡さないでください。
linked = 完了：ここのアカウントと{ $others }を、一人のアカウントとして扱います。片方で私だけに話したことを、もう片方でも思い出します。`unlink my account` で解除でき、解除はそちらにもお知らせします。
linked-elsewhere = ここのアカウントが{ $account }と連携されました。片方で私だけに話したことを、もう片方でも思い出します。心当たりがない場合は、すぐに `unlink my account` と送ってください。
link-needs-direct-message = Slack、Discord、Matrix のダイレクトメッセージで送ってください。そこでなら、コードをほかの人に見られず、誰のアカウントかも確かめられます。
own-link-code = それは、このアカウント自身のコードです。もう一方のプラットフォームの、自分のアカウントで入力してください。
wrong-link-code = そのコードは無効です。使用済みか、発行から10分を過ぎたか、発行されていません。もう一方のプラットフォームで `link my accounts` と送ると、新しいコードを発行します。
too-many-link-codes = コードの入力回数が多すぎます。1時間後にもう一度お試しください。
too-many-accounts = アカウントは{ $most }件までです。使わなくなったアカウントで `unlink my account` と送り、もう一度 `link my accounts` で新しいコードを受け取ってください。
unlinked = 完了：ここのアカウントと{ $others }の連携を解除しました。そちらで私だけに話したことは、ここでは思い出しません。逆も同じです。
unlinked-elsewhere = ここのアカウントと{ $account }の連携が解除されました。そちらで私だけに話したことは、ここでは思い出しません。逆も同じです。
nothing-linked = ここのアカウントは、ほかのアカウントと連携していません。連携するには、ダイレクトメッセージで `link my accounts` と送ってください。
link-ended = ここのアカウントは90日間使われなかったため、連携を解除しました。今は別の人のものかもしれません。もう一度連携するには、`link my accounts` と送ってください。

pages-link = あなた専用の閲覧ページへのリンクです。5分以内に1回だけ使えます：{ $link }
    ログインは12時間、または `web sign out` と送るまで有効です。
no-pages = 閲覧ページはありません。起動時の設定に `WEB_ADDR=127.0.0.1:8088` が必要です。
no-pages-here = このプラットフォームでは誰が何を読めるか確認できないため、ここではリンクを渡せません。
signed-out = { $times ->
    [0] 閲覧ページにはログインしていません。
   *[other] 閲覧ページからログアウトしました（ブラウザー{ $times }件）。
}
# $token is a secret, $address where programs ask.
token-made = あなたのトークンです。表示するのは今回だけです: `{ $token }`
    これを使うと、プログラムが { $address } であなたの代わりに私に質問できます。例: `claude mcp add --transport http muninn { $address } --header "Authorization: Bearer …"`
token-reads-here = この場所であなたが読めるものだけを読みます。
token-reads-everywhere = あなたが読めるものを、すべての場所で読みます。
token-until = { $until }まで有効です。
token-is-secret = 誰にも渡さないでください。持っている人は同じものを読めます。`mcp tokens`であなたのトークンを一覧し、`mcp revoke 1`で取り消せます。
tokens = あなたのトークン:
token-line = { $number }. { $made }に作成、{ $places }を読みます。
token-line-everywhere = { $number }. { $made }に作成、あなたが読めるすべてを読みます。
token-used = 最後の使用: { $at }。
token-unused = 未使用です。
tokens-hint = `mcp revoke 1`で最初のもの、`mcp revoke all`ですべてを取り消します。
no-tokens = トークンはありません。`mcp token`はこの場所を読むトークンを、`mcp token everywhere`はあなたが読めるすべてを読むトークンを作ります。
tokens-revoked = { $count ->
    [0] トークンはありませんでした。
   *[other] { $count }個のトークンを取り消しました。使っていたプログラムには、もう何も渡しません。
}
no-such-token = { $number }番のトークンはありません。`mcp tokens`で一覧できます。
too-many-tokens = すでに{ $most }個のトークンがあります。`mcp tokens`で一覧し、`mcp revoke 1`で取り消せます。
no-such-life = 「{ $life }」がどのくらいの長さか分かりません。`mcp token for 30 days`のように言ってください。
no-mcp = ここではプログラムから私に質問できません。私を運用している人が`MCP_ADDR=127.0.0.1:8089`で起動できます。
no-token-here = このプラットフォームでは誰が何を読めるか確認できず、トークンがあっても何も読めないため、ここではトークンを渡せません。
