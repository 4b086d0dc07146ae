### ボットとは何か、何を頼めるか、いくらかかったか

about = 質問に答え、ここで話しかけられたことを覚えます。後の質問に役立つときは、それを思い出します。ある場所で覚えたことは、その場所にいる人にだけ使います。削除されたメッセージと、忘れるように言われたものは、忘れます。
about-nothing = この場所のことは、まだ何も覚えていません。
about-remembered = ここでは、{ $since }以降の{ $conversations }、{ $turns }を覚えています。

help =
    できること：
    - `help`：この一覧
    - `about`：私は何か、ここで何を覚えているか
    - `history`：ここでの最近のやり取り
    - `why`：最後の回答が何に基づくか
    - `catch me up`、`catch me up since Monday`：この{ channel }で決まったこと、答えが出たこと、未解決のこと（あなただけに表示）
    - `remember that …`：ここで覚えておく（`note: …` も同じ）
    - `memory`、`memory search 語`：ここでのあなたの発言の記憶。続けて `forget 2` や `correct 2: …` で項目を扱えます
    - `forget last`：ここでのあなたの最後のメッセージと回答を忘れる
    - `forget session`：この{ conversation }での発言をすべて忘れる
    - `forget { $channel }`：この{ channel }での発言を、すべての{ conversation }にわたって忘れる
    - `forget me`：すべての場所で、あなたに関するすべてを忘れる（先に確認します）
    - `link my accounts`（ダイレクトメッセージで）：ここのアカウントと別のプラットフォームのアカウントを、一人のものとして扱う。`unlink my account` で解除
    - `export mine`：すべての場所であなたに関して保管しているものを、あなただけにファイルで渡す
    - `mute`、`only when mentioned`、`unmute`：この{ conversation }でいつ答えるか。`mute { $channel }` などで{ channel }全体
    - `remember { $channel }`、`remember only what is asked`：この{ channel }での人どうしの発言を覚えるか
    - `don't remember me here`、`remember me here`：それをあなたに適用するか
    - `off`、`on`：この{ conversation }での人どうしの発言を記録の対象外にする、または戻す。`off { $channel }` などで{ channel }全体
    - `backfill since Monday`：記憶の対象になっているこの{ channel }で、その日からの人どうしの発言を読む（管理できる人のみ）。`backfill`：進み具合
    - `usage`：あなたとこの{ channel }の使用量
    - `web`：会話と回答の根拠を見られるページへの、あなた専用のリンク。`web sign out` で終了
    - `mcp token`、`mcp token everywhere for 30 days`: プログラムがあなたの代わりに私に質問するための、あなただけのトークン。`mcp tokens`で一覧し、`mcp revoke 1`または`mcp revoke all`で取り消します
    それ以外は、私へのメッセージとして扱います。

help-slash =
    質問と一緒にメンションすると、スレッドで答えます。スレッド内ではメンションは不要です。次のコマンドも使えます：
    - `/ask`：ここで質問する。あなただけに表示（`private`）、または専用のスレッド（`thread`）
    - `/why`：最後の回答が何に基づくか
    - `/catchup`：このチャンネルで決まったこと、答えが出たこと、未解決のこと（あなただけに表示）
    - `/backfill`：記憶の対象になっているこのチャンネルの、以前の発言を読む（メッセージを管理できる人のみ）
    - `/session`：自分の会話を探す
    - `/note`：このチャンネルで何かを覚えておく
    - `/memory`：ここでのあなたの発言の記憶（あなただけに表示）。`/correct`：その項目を訂正する
    - `/forget`：その項目、最後のメッセージ、このスレッド、このチャンネル（メッセージを管理できる人のみ）、非公開の質問、またはすべての場所であなたに関するすべてを忘れる
    - `/export`：すべての場所であなたに関して保管しているものを、ダイレクトメッセージのファイルで渡す
    - `/web`：会話と回答の根拠を見られるページへの、あなた専用のリンク
    - `/mcp`: エディターなどのプログラムがあなたの代わりに私に質問するための、あなただけのトークン。一覧と取り消しも
    - `/link`（ダイレクトメッセージで）：ここのアカウントと別のプラットフォームのアカウントを、一人のものとして扱う。`/unlink` で解除
    - `/mute`、`/mentions`、`/unmute`：このスレッドまたはチャンネルでいつ答えるか（答えない、メンション時だけ、自分宛てと思うとき）
    - `/remember`：このチャンネルと、ここでのほかの人へのあなたの発言を、どこまで覚えるか
    - `/off`、`/on`：このスレッドまたはチャンネルでの人どうしの発言を記録の対象外にする、または戻す
    - `/usage`：あなたとこのチャンネルの使用量

## 使用量

usage-day = 直近24時間：
usage-month = 直近30日間：
usage-you = - あなた：{ $spent }
usage-here = - ここの全員：{ $spent }
spent = { $answers }、{ $read }、{ $written }
tokens-read = 入力{ $tokens }
tokens-read-cached = 入力{ $tokens }（うちキャッシュ{ $cached }）
tokens-written = 出力{ $count }トークン
spent-money = { $spent }、{ $money }
usage-budget = 今月の{ $whose }：{ $limit }のうち{ $spent }
