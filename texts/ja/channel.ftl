### チャンネルで何に答え、何を覚え、何を読み返すか

two-sentences = { $first }{ $next }

## いつ答えるか

muted-conversation = この{ conversation }では、メンションされても発言しません。誰かが `unmute` と送るまで続きます。コマンドは引き続き使えます。
muted-channel = この{ channel }では、メンションされても発言しません。誰かが `unmute { $channel }` と送るまで続きます。コマンドは引き続き使えます。
mentioned-conversation = この{ conversation }では、メンションか返信があるときだけ答えます。誰かが `unmute` と送るまで続きます。
mentioned-channel = この{ channel }では、メンションか返信があるときだけ答えます。誰かが `unmute { $channel }` と送るまで続きます。
open-conversation = この{ conversation }で、私宛ての発言に再び答えます。
open-channel = この{ channel }で、私宛ての発言に再び答えます。
still-muted-conversation = ただし、この{ conversation }全体はまだミュート中です（`unmute`）。
still-muted-channel = ただし、この{ channel }全体はまだミュート中です（`unmute { $channel }`）。
still-mentioned-conversation = ただし、この{ conversation }全体では、まだメンションがあるときだけ答えます（`unmute`）。
still-mentioned-channel = ただし、この{ channel }全体では、まだメンションがあるときだけ答えます（`unmute { $channel }`）。
moderator-needed-to-mute = { channel }全体でいつ答えるかを決められるのは{ moderator }だけです。`mute` と `only when mentioned` は、この{ conversation }に適用されます。
not-in-conversation = この{ conversation }には参加していないため、変更するものがありません。`mute { $channel }` は{ channel }全体に適用されます。
stayed-silent = （ここでは{ $times }件のメッセージに、あえて答えませんでした。最後は{ $last }です。）

## 人どうしの発言

hears-everybody = 今後、この{ channel }での人どうしの発言を覚え、ここにいる人が後から探せるようにします。答えるのは、これまでどおり私宛ての発言だけです。`don't remember me here` と送ると、以前の分も含めて、あなたの発言は残しません。`off` と `on` で{ conversation }を記録の対象外にしたり戻したりでき、`[off]` で始まるメッセージは残しません。全員について終了するには、{ moderator }が `remember only what is asked` と送ります。
hears-everybody-now = 今後、この{ channel }での人どうしの発言を覚えます。全員にお知らせしました。
hears-nobody-any-more = 今後、この{ channel }では私への質問だけを覚えます。これまでの記憶は残ります。`forget { $channel }` ですべて消せます。
hears-nobody = この{ channel }では、私への質問だけを覚えます。
moderator-needed-to-hear = { channel }全体で何を覚えるかを決められるのは{ moderator }だけです。`don't remember me here` は、あなた自身に適用されます。
opted-out = この{ channel }でのほかの人への発言は残しません。これまでの記憶も忘れました：メッセージ{ $count }件。私への質問は引き続き覚えます。`forget last` で消せます。`remember me here` で元に戻せます。
opted-in = 今後、この{ channel }でのほかの人への発言を再び覚えます。
opted-in-unheard = この{ channel }であなたは対象外ではありませんが、ここでは誰の発言も覚えず、私への質問だけを覚えます。
off-record-conversation = この{ conversation }での人どうしの発言は記録しません。誰かが `on` と送るまで、何も残しません。私への質問は、これまでどおり覚えます。
off-record-channel = この{ channel }での人どうしの発言は記録しません。誰かが `on { $channel }` と送るまで、何も残しません。私への質問は、これまでどおり覚えます。
on-record-conversation = この{ conversation }での人どうしの発言を、再び記録の対象にします。
on-record-channel = この{ channel }での人どうしの発言を、再び記録の対象にします。
record-anyway = （この{ channel }では、もともと私への質問だけを覚えます。）
asked-for-this = { $name }さんの依頼：{ $notice }

## 追いつくことと、以前の発言を読むこと

nothing-yet = ここではまだ何も話されていません。
nothing-since = 私の知る限り、{ $time }以降、ここでは何も話されていません。
no-such-day = { $words } を過去の日として理解できません。「Monday」「last week」「2026-04-13」のように指定してください。
no-history = ここには読める履歴がありません。
no-backfill = ここの以前の発言は、今は読んでいません。「backfill since 2026-01-31」のように送ると、その日から読みます。
moderator-needed-to-backfill = この{ channel }の以前の発言を読ませられるのは{ moderator }だけです。
not-backfilled = ここの以前の発言を読めません：{ $why }。
backfill-not-remembered = そこでの人どうしの発言は記憶の対象外です。そこで「remember channel」と送るか、チャンネル設定（CHANNEL_SETTINGS）で { $place } に memory = "channel" を指定してください
backfill-no-platform = このプロセスには { $place } を読めるプラットフォームがありません。`muninn sessions` に表示されるチャンネルの ID（スレッドを除く）を指定してください
backfill-future = { $day }は未来の日付です
backfill-done = 完了：{ $messages }を読みました。
backfill-stopped = { $messages }を読んだところで止まりました：{ $why }。
backfill-reading = 読み込み中：これまでに{ $messages }。
backfill-reading-at = 読み込み中：これまでに{ $messages }、現在{ $date }。
backfill-resting = 読み込み中：これまでに{ $messages }。プラットフォームの制限で{ $seconds }秒待っています。
backfill-resting-at = 読み込み中：これまでに{ $messages }、現在{ $date }。プラットフォームの制限で{ $seconds }秒待っています。
backfill-goes-on = 続けて読みます。`backfill` で進み具合を見られます。
backfill-unheard = そこでの人どうしの発言は、もう記憶の対象外です
backfill-away = プラットフォームに接続できません。次の起動時に続けます
history-not-there = { $place } は、私が参加している { $platform } のチャンネルではありません
history-other-shard = { $place } は Discord のシャード { $shard } にあり、このプロセスが担当しているのは { $shards } です（DISCORD_SHARDS）。そのシャードを担当するプロセスで始めてください
history-invite = チャンネル { $channel } に参加していません。/invite で招待してください
history-lacks = { $channel } の発言を読めません。そこで { $permissions } の権限がありません
history-refused = { $platform } がそこでの発言を渡しません：{ $why }
