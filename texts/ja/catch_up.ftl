### 追いつく：決まったこと、答えが出たこと、未解決のこと

caught-up = { $since }以降：{ $people }から{ $messages }。
caught-up-newest = { $since }以降：{ $messages }を超えています。ここでまとめたのは最新のもの（{ $people }）だけです。
count-people = { $count }人
catch-up-decided = 決まったこと
catch-up-open = 未解決
catch-up-answered = 質問と回答
catch-up-further = そのほかの会話
catch-up-unanswered = まだ返事がないもの
catch-up-also = そのほかの発言
catch-up-me = 私
more-conversations = （ほかに会話{ $count }件）
more-questions = （ほかに質問{ $count }件）
more-messages = （ほかにメッセージ{ $count }件）
