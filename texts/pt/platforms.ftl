### Botões, formulários e frases das plataformas

button-why = Por quê?
button-good = Uma boa resposta
button-bad = Uma resposta ruim
button-share = Compartilhar
button-stop = Parar
button-again = Responder de novo
button-forget = Esquecer
button-keep = Manter
button-forget-number = Esquecer { $number }
button-correct-number = Corrigir { $number }
button-approve = Fazer
button-decline = Deixar

form-correct-title = Corrigir o número { $number }
form-correct = Corrigir
form-leave = Deixar
form-what-is-right = O que é certo
form-not-opened = O Slack não abriu o formulário. Aperte o botão de novo, ou diga `correct { $number }: …`.

home-ask = Pergunte em um canal me mencionando, em uma mensagem direta, ou só para você com `{ $command } ask …`. Toda resposta tem um botão que mostra de que ela foi feita.
home-forget = Esquecer nossas mensagens diretas
home-forget-title = Esquecer tudo?
home-forget-text = Tudo o que você me disse em mensagens diretas, e o que respondi, é esquecido para sempre.
home-forget-yes = Esquecer
home-forget-no = Manter

not-allowed = Não posso falar com você aqui. Quem me administra pode liberar.
never-here = Não devo responder perguntas neste canal.
not-yours-here = Só quem perguntou, ou alguém com permissão para gerenciar mensagens aqui, pode fazer isso.
old-button = Este botão é de uma versão antiga e não funciona mais.
no-text = Não há nada para ler nessa mensagem.
no-question = Não há nenhuma pergunta nisso.
confirm-session = Tudo o que me disseram nesta conversa será esquecido, de todos. Não dá para recuperar.
confirm-private = Tudo o que você me perguntou em particular aqui será esquecido. Não dá para recuperar.
confirm-channel = Tudo o que me disseram neste canal e em suas threads será esquecido, de todos. Não dá para recuperar.
forget-what = Diga o que esquecer: escolha `what`, ou dê o `number` de algo que `/memory` ou `/why` mostrou a você.
say-where = Não sei se isto é uma thread. Diga onde: escolha `where`.
nothing-was-forgotten = Nada foi esquecido.
no-direct = Não posso enviar mensagens diretas a você. Use aqui o comando com `/`: só você vê a resposta.
no-direct-room = Não consegui abrir uma sala para nós dois, ou a que temos não é criptografada como esta. Convide-me para uma sala em que estejamos a sós e peça lá.
thanks = Obrigado, anotado.
no-such-session = Não conheço aqui nenhuma conversa sua assim.
sessions-unknown = Não consigo consultar minha memória agora; tente de novo mais tarde.

stays-only-you-slack = só você vê e o Slack não deixa ninguém remover; some quando você recarrega o Slack
stays-only-you-discord = só você vê e o Discord não deixa mais ninguém remover; escolha “Dismiss message” abaixo
stays-scope = falta ao aplicativo a permissão { $needed }; quem me administra pode adicioná-la
stays-slack = o Slack se recusa a remover ({ $code }); um administrador do workspace pode excluir
stays-no-access = não posso mais ver esse canal; me deixe entrar de novo (View Channel) e exclua, ou exclua você mesmo
stays-removed = fui removido desse servidor
stays-locked = a thread está bloqueada; exclua você mesmo, ou desbloqueie a thread
stays-discord = o Discord se recusa a remover: { $why }
stays-not-in-room = não estou mais nessa sala; me convide de novo, ou peça a alguém de lá para remover
stays-homeserver = o servidor se recusa a remover ({ $why }); um moderador da sala pode
stays-program = o programa a que respondo não exclui: { $why }

no-copy-here = não posso dar um arquivo a ninguém aqui; peça em outro lugar onde estou, como um terminal ou um chat com mensagens diretas
no-copy-undirect = não posso dar um arquivo a ninguém aqui; peça onde eu possa escrever uma mensagem direta
no-copy-webhook = falo com você por outro programa, que só aceita textos e me diz por conta própria quem você é
no-copy-direct = você não aceita mensagens diretas minhas; permita as de membros deste servidor, ou use `/export` aqui, e peça de novo
no-copy-direct-room = não consegui abrir uma sala para nós dois, ou a que temos não é criptografada como esta; convide-me para uma sala em que estejamos a sós e peça lá
no-copy-away = { $platform } não responde como deveria ({ $why }); peça de novo mais tarde
no-copy-refused = { $platform } recusa os arquivos: { $why }
no-copy-scope = o Slack não deixa: falta ao aplicativo a permissão { $needed } (quem me administra o instala de novo com o manifesto que `muninn manifest slack` mostra)
no-copy-room-changed = a sala que era para nós dois não é mais; convide-me para outra e peça lá
no-copy-folder = não sei em que pasta você está; vá a uma e peça de novo
no-copy-folder-refused = não consigo escrever em { $folder } ({ $error }); vá a uma pasta em que você possa escrever e peça de novo
no-copy-connection = não posso dar um arquivo por esta conexão; peça com `muninn chat`

slack-ask-how = Escreva sua pergunta depois: `{ $command } ask Quando sai a versão?` Só você vê a resposta.
slack-shared = — compartilhado por { $name }
slack-not-shared = Não compartilhado: o Slack não me diz se há pessoas de outras organizações aqui. Convide-me para o canal ou copie o texto.
slack-title = Conversa com Muninn
slack-thinking = está pensando…
slack-suggestions = O que você quer saber?
slack-suggest-abilities = O que você sabe fazer?
slack-ask-abilities = O que você sabe fazer e de que se lembra?
slack-suggest-last = Sobre o que conversamos?
slack-ask-last = Sobre o que conversamos da última vez?
slack-suggest-note = Guardar algo
slack-ask-note = Por favor, lembre-se disto para depois:

ask-about-message = O que você sabe sobre esta mensagem?
ask-about-message-of = O que você acha desta mensagem de { $name }?

answers-in = Respondo em { $thread }.
thread-name = Pergunta

sealed-message = Não consigo ler esta mensagem: a chave dela não chegou a mim. Se chegar, leio então; se não, diga de novo, por favor.
invitation-declined = Obrigado pelo convite. Só posso entrar em salas das pessoas para quem fui configurado; pergunte a quem me administra.
room-without-memory = Esta sala substitui outra, mas está aberta a outras pessoas. Por isso começo aqui sem o que lembro da sala antiga.

terminal-greeting = { $name } com { $models }. /help mostra o que você pode pedir, /quit sai.
terminal-model-else = { $first }, senão { $next }
terminal-without-model = { $name } responde só de memória: defina OPENAI_API_KEY, ou OPENAI_BASE_URL para um serviço como o Ollama, para dar um modelo a ele.
terminal-too-long = Isso passa de { $bytes } bytes; diga em partes.
terminal-how-to-leave = /quit ou Ctrl-D sai; /help diz o que se pode pedir.
terminal-unreadable = Isso não é UTF-8 válido; digite de novo, por favor.
terminal-ending = O Muninn está encerrando.
terminal-no-answer = Não veio resposta. Pergunte de novo, ou diga `unmute` onde alguém me silenciou.
terminal-not-waiting = Não espero mais por isso.
