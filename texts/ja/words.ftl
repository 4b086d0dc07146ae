# Muninn の日本語。「です・ます」で、短く書く。
# バッククォートの中の語はコマンドなので、英語のまま残す。

### 日付、列挙、場所と人の呼び方

date = { $year }/{ $month }/{ $day }
date-and-time = { date } { $time }
day-and-time = { month }{ $day }日({ weekday }) { $time }
weekday = { $weekday ->
    [1] 月
    [2] 火
    [3] 水
    [4] 木
    [5] 金
    [6] 土
   *[7] 日
}
month = { $month }月
list-goes-on = { $first }、{ $next }
list-ends = { $first }、{ $next }

channel = { $channel ->
    [room] ルーム
   *[channel] チャンネル
}
conversation = { $conversation ->
    [thread] スレッド
   *[conversation] 会話
}
moderator = { $moderator ->
    [workspace-admin] ワークスペースの管理者
    [message-manager] ここでメッセージを管理できる人
   *[administrator] 管理者
}

count-answers = 回答{ $count }件
count-messages = メッセージ{ $count }件
count-questions = 質問{ $count }件
count-notes = メモ{ $count }件
count-conversations = 会話{ $count }件
count-turns = やり取り{ $count }件
count-tokens = { $count }トークン
