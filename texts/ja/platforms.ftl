### 各プラットフォームのボタン、フォーム、短い文

button-why = なぜ？
button-good = 良い回答
button-bad = 悪い回答
button-share = 共有
button-stop = 停止
button-again = 再回答
button-forget = 忘れる
button-keep = 残す
button-forget-number = { $number }を忘れる
button-correct-number = { $number }を訂正
button-approve = 実行する
button-decline = やめる

form-correct-title = { $number }番を訂正
form-correct = 訂正する
form-leave = そのまま
form-what-is-right = 正しい内容
form-not-opened = Slack がフォームを開けませんでした。もう一度ボタンを押すか、`correct { $number }: …` と送ってください。

home-ask = チャンネルでのメンション、ダイレクトメッセージ、または自分だけに表示される `{ $command } ask …` で質問できます。どの回答にも、根拠を示すボタンがあります。
home-forget = ダイレクトメッセージを忘れる
home-forget-title = すべて忘れますか？
home-forget-text = ダイレクトメッセージでのあなたの発言と私の回答を、完全に忘れます。
home-forget-yes = 忘れる
home-forget-no = 残す

not-allowed = ここではあなたと話せません。運用者が許可できます。
never-here = このチャンネルでは質問に答えない設定です。
not-yours-here = 質問した本人か、ここでメッセージを管理できる人だけが行えます。
old-button = このボタンは古いバージョンのもので、もう使えません。
no-text = そのメッセージには読むものがありません。
no-question = そこに質問はありません。
confirm-session = この会話で私に話されたことを、全員の分すべて忘れます。元に戻せません。
confirm-private = ここで非公開で質問したことを、すべて忘れます。元に戻せません。
confirm-channel = このチャンネルとスレッドで私に話されたことを、全員の分すべて忘れます。元に戻せません。
forget-what = 忘れるものを指定してください。`what` を選ぶか、`/memory` や `/why` に表示された `number` を入れてください。
say-where = ここがスレッドかどうか分かりません。`where` で場所を選んでください。
nothing-was-forgotten = 何も忘れていません。
no-direct = あなたにダイレクトメッセージを送れません。ここで `/` のコマンドを使ってください。結果はあなただけに表示されます。
no-direct-room = 二人だけのルームを開けなかったか、そのルームがここのように暗号化されていません。二人だけのルームに招待して、そこで頼んでください。
thanks = ありがとうございます。記録しました。
no-such-session = ここには、そのようなあなたの会話はありません。
sessions-unknown = 現在、記憶を確認できません。後でもう一度お試しください。

stays-only-you-slack = あなただけに表示され、Slack では誰も削除できません。Slack を再読み込みすると消えます
stays-only-you-discord = あなただけに表示され、Discord ではほかの人が削除できません。下の「Dismiss message」を選んでください
stays-scope = アプリに権限 { $needed } がありません。運用者が追加できます
stays-slack = Slack が削除を拒否しました（{ $code }）。ワークスペースの管理者が削除できます
stays-no-access = そのチャンネルをもう見られません。もう一度見られるようにして（View Channel）削除するか、ご自分で削除してください
stays-removed = そのサーバーから外されました
stays-locked = スレッドがロックされています。ご自分で削除するか、ロックを解除してください
stays-discord = Discord が削除を拒否しました：{ $why }
stays-not-in-room = そのルームにはもういません。もう一度招待するか、そこにいる人に削除してもらってください
stays-homeserver = ホームサーバーが削除を拒否しました（{ $why }）。ルームのモデレーターなら削除できます
stays-program = 回答先のプログラムが削除しません：{ $why }

no-copy-here = ここではファイルを渡せません。ターミナルやダイレクトメッセージのあるチャットなど、別の場所で頼んでください
no-copy-undirect = ここではファイルを渡せません。ダイレクトメッセージを送れる場所で頼んでください
no-copy-webhook = 別のプログラムを介して話しており、文字しか送れず、あなたが誰かもそのプログラムの申告によるためです
no-copy-direct = 私からのダイレクトメッセージが受信できない設定です。このサーバーのメンバーからのものを許可するか、ここで `/export` を使ってください
no-copy-direct-room = 二人だけのルームを開けなかったか、そのルームがここのように暗号化されていません。二人だけのルームに招待して、そこで頼んでください
no-copy-away = { $platform } が正しく応答しません（{ $why }）。後でもう一度頼んでください
no-copy-refused = { $platform } がファイルを拒否しました：{ $why }
no-copy-scope = Slack で許可されていません。アプリに権限 { $needed } がありません（運用者は `muninn manifest slack` の出力で入れ直せます）
no-copy-room-changed = 二人だけだったルームに、ほかの人がいます。別のルームに招待して、そこで頼んでください
no-copy-folder = 今いるフォルダーが分かりません。フォルダーに移動して、もう一度頼んでください
no-copy-folder-refused = { $folder } に書き込めません（{ $error }）。書き込めるフォルダーに移動して、もう一度頼んでください
no-copy-connection = この接続ではファイルを渡せません。`muninn chat` で頼んでください

slack-ask-how = その後ろに質問を書いてください：`{ $command } ask リリースはいつ？` 回答はあなただけに表示されます。
slack-shared = — { $name } が共有
slack-not-shared = 共有していません：ここに他の組織の人がいるかどうか、Slack から知らされません。チャンネルに招待するか、文をコピーしてください。
slack-title = Muninn との会話
slack-thinking = が考えています…
slack-suggestions = 何を知りたいですか？
slack-suggest-abilities = 何ができますか？
slack-ask-abilities = 何ができて、何を覚えていますか？
slack-suggest-last = 何を話しましたか？
slack-ask-last = 前回は何を話しましたか？
slack-suggest-note = 覚えてほしいこと
slack-ask-note = 後のために覚えておいてください：

ask-about-message = このメッセージについて何か知っていますか？
ask-about-message-of = { $name } のこのメッセージをどう思いますか？

answers-in = { $thread } で回答します。
thread-name = 質問

sealed-message = このメッセージの鍵が届いていないため、読めません。届いたら読みます。届かない場合は、もう一度送ってください。
invitation-declined = ご招待ありがとうございます。参加できるのは、許可された人のルームだけです。運用者に問い合わせてください。
room-without-memory = このルームは別のルームの後継ですが、ほかの人も入れます。そのため、前のルームの記憶なしで始めます。

terminal-greeting = { $name }（{ $models }）。/help で質問できることを表示し、/quit で終了します。
terminal-model-else = { $first }、次に { $next }
terminal-without-model = { $name } は記憶だけで答えます。モデルを使うには、OPENAI_API_KEY か、Ollama などのサービスの OPENAI_BASE_URL を設定してください。
terminal-too-long = { $bytes } バイトを超えています。分けて送ってください。
terminal-how-to-leave = /quit か Ctrl-D で終了します。/help で質問できることを表示します。
terminal-unreadable = 有効な UTF-8 ではありません。もう一度入力してください。
terminal-ending = Muninn を終了しています。
terminal-no-answer = 回答がありませんでした。もう一度質問するか、ミュートされている場所では `unmute` と送ってください。
terminal-not-waiting = その回答はもう待ちません。
