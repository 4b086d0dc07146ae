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
