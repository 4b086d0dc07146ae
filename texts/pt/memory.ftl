### Anotar, listar, corrigir e esquecer o que é lembrado

## Notas

noted-privately = Anotado, só para você: vou lembrar quando tiver a ver com uma pergunta sua. `forget last` esquece.
noted = Anotado: vou lembrar { neste-canal } quando tiver a ver com uma pergunta. `forget last` esquece.
nothing-to-note = Diga o que devo guardar: “remember that o chá é às quatro”.
proposes-note = Guardo isto para você? Diga `yes`: “{ $text }”
not-noted = Não consegui escrever isso, então não vou lembrar: o disco pode estar cheio. Diga de novo mais tarde.

## Listas

list-line = { $number }. [{ $date }] { $told }
list-line-corrected = { $number }. [{ $date }] { $told } (corrigido em { $corrected })
list-noted = você anotou: { $text }
list-said = você disse a outros: { $text }
list-told = você para mim: { $text } (respondi: { $answer })
list-told-only = você para mim: { $text }
list-hint = `forget { $first }` esquece um destes itens, `correct { $first }: …` diz de outro jeito.
list-hint-more = `forget { $first }` esquece um destes itens, `correct { $first }: …` diz de outro jeito, `memory more` mostra os mais antigos.
list-hint-more-words = `forget { $first }` esquece um destes itens, `correct { $first }: …` diz de outro jeito; há mais, que mais palavras distinguem.
recalled-hint = `forget 1` esquece o que tem o número 1 acima, e `correct 1: …` diz de outro jeito.
nothing-found = Nada do que guardo do que você disse aqui tem todas essas palavras.
nothing-more = Isso é tudo o que guardo do que você disse aqui.
nothing-listed = Não guardo nada do que você disse aqui.
list-ends-after = Uma lista termina depois de { $listed } itens. `memory search PALAVRAS` encontra o que é mais antigo.
list-again = Não sei mais a que os números se referem. Diga `memory`, ou `why`, e depois o número que aparecer.
no-such-number = Não há número { $number } na última lista que você viu aqui, que tem { $listed }. Diga `memory` para vê-la de novo.
item-gone = O que tinha o número { $number } já foi esquecido. Diga `memory` para ver o que resta.
item-changed = O que tinha o número { $number } mudou desde então, e eu deixei como está. Diga `memory`, ou `why`, para ver de novo.
not-your-item = Outra pessoa disse o número { $number }; só ela ou { moderator } pode mudar isso.

## Correções

nothing-to-correct = Diga o que é certo: “correct { $number }: o chá é às cinco”.
nothing-stated = O número { $number } é uma pergunta, e a resposta só cita o que foi dito. Corrija o que ela cita: `memory search PALAVRAS` mostra isso com o número.
corrected-item = Corrigido: de agora em diante isso vale no lugar do número { $number }, que guardo só como o que foi dito antes.
already-corrected = { $by } corrigiu isso em { $at }. Diga `memory search PALAVRAS`, ou `why`, e corrija o que vale agora.

## Esquecer

nothing-to-forget = Não há nada seu para esquecer aqui.
not-yours-to-forget = Outras pessoas também falaram aqui; só { moderator } pode fazer tudo ser esquecido. “{ $forget_last }” esquece sua última interação.
not-your-message = Não guardo nada seu sob a mensagem à qual você respondeu, por isso não esqueci nada. “{ $forget_last }”, sem responder a uma mensagem, esquece sua última mensagem aqui.
forgot-turn = { $quotes ->
    [0] Esquecido: { $what }, e tudo o que a memória sabia disso.
    [one] Esquecido: { $what }, e tudo o que a memória sabia disso, e { $quotes } resposta posterior que a citava.
   *[other] Esquecido: { $what }, e tudo o que a memória sabia disso, e { $quotes } respostas posteriores que a citavam.
}
forgotten-exchange = sua mensagem de { $at }, com a resposta
forgotten-heard = sua mensagem de { $at }, que você escreveu a outras pessoas
forgotten-note = sua nota de { $at }
forgotten-last = sua última mensagem aqui
forgot-waiting-turn = Esquecido: sua última interação, que ainda esperava para ser salva. Minha memória está inacessível no momento; se ela chegou lá mesmo assim, diga “forget last” de novo quando a memória voltar.
forgot-item = { $earlier ->
    [0] Esquecido: o que tinha o número { $number }, com tudo o que a memória sabia disso.
    [one] Esquecido: o que tinha o número { $number }, com tudo o que a memória sabia disso e { $earlier } versão que tinha corrigido.
   *[other] Esquecido: o que tinha o número { $number }, com tudo o que a memória sabia disso e { $earlier } versões que tinha corrigido.
}
forgot-all = Esquecido: tudo o que foi dito nesta conversa.
forgot-session = { $turns ->
    [one] Esquecido: a única interação desta { conversa }.
   *[other] Esquecido: as { $turns } interações desta { conversa }.
}
forgot-audience = { $turns ->
    [one] Esquecido: a única interação { deste-canal }, em todas as { conversa }s.
   *[other] Esquecido: as { $turns } interações { deste-canal }, em todas as { conversa }s.
}
moderator-needed = Só { moderator } pode fazer { todo-o-canal } ser esquecido. “{ $forget_last }” esquece sua última interação.
held = (Este lugar está sob retenção legal: ninguém mais vê isso, mas quem me administra tem uma cópia até o fim da retenção.)
still-in-file = (Não uso mais isso, mas o texto ainda está em um arquivo meu que não pôde ser gravado: o disco pode estar cheio. Ele será removido quando o arquivo puder ser gravado de novo.)
removed-later = { $count ->
    [one] Ainda não consegui remover { $count } mensagem minha e continuo tentando.
   *[other] Ainda não consegui remover { $count } mensagens minhas e continuo tentando.
}
stays-visible = { $count ->
    [one] { $count } mensagem minha continua visível, porque { $why }.
   *[other] { $count } mensagens minhas continuam visíveis, porque { $why }.
}
store-needed = Minha memória está inacessível no momento, então não posso fazer isso. Tente de novo mais tarde.

## Esquecer uma pessoa

kept-of-person = { $accounts ->
    [0] { $questions } com o que respondi, { $messages } a outros e { $notes }, em { $conversations }
    [one] { $questions } com o que respondi, { $messages } a outros e { $notes }, em { $conversations }
   *[other] { $questions } com o que respondi, { $messages } a outros e { $notes }, em { $conversations }, de { $accounts } contas vinculadas
}
ask-forget-me = Isto esquece tudo o que é seu, em todos os lugares onde estou: { $kept }; o que você achou das respostas; e o que houver disso em respostas a outros. Retiro minhas respostas a você, e não dá para desfazer. Se é isso que você quer, diga `{ $command }`.
forgot-me = Esqueci tudo o que é seu: { $kept }, e o que você achou das respostas.
forgot-me-repeated = { $count ->
    [one] Esvaziei { $count } outra resposta que citava ou repetia isso.
   *[other] Esvaziei { $count } outras respostas que citavam ou repetiam isso.
}
forgot-me-accounts = Suas contas não estão mais vinculadas.
forgot-me-out-of-reach = Fora do meu alcance ficam suas próprias mensagens aqui, o que outras pessoas escreveram sobre elas, o que o serviço do modelo guarda e os backups de quem me administra. Onde você me disse para não lembrar de você { num-canal }, isso continua valendo.
num-canal = { $channel ->
    [room] numa sala
   *[channel] num canal
}
forgot-me-held = { $count ->
    [one] { $count } lugar está sob retenção legal: ninguém mais vê o que você disse lá, mas quem me administra tem uma cópia até o fim da retenção.
   *[other] { $count } lugares estão sob retenção legal: ninguém mais vê o que você disse lá, mas quem me administra tem uma cópia até o fim da retenção.
}

## Uma cópia do que é seu

export-under-way = Já estou reunindo o que guardo de você. Aguarde um pouco.
nothing-kept-of-you = Não guardo nada seu.
handed-over-directly = Enviei a você em uma mensagem direta.
handed-over-here = { $count ->
    [one] Isto é tudo o que guardo de você: { $count } item, em JSON para programas e em Markdown para ler.
   *[other] Isto é tudo o que guardo de você: { $count } itens, em JSON para programas e em Markdown para ler.
}
handed-over-at = { $count ->
    [one] Tudo o que guardo de você ({ $count } item) está em { $paths }, que ninguém mais pode ler.
   *[other] Tudo o que guardo de você ({ $count } itens) está em { $paths }, que ninguém mais pode ler.
}
not-handed-over = Não consegui entregar o que guardo de você, porque { $why }. Quem me administra pode criar os arquivos com `muninn export mine.json --person { $person }`.
no-copy-disk = não consegui gravar os arquivos; o disco pode estar cheio
no-copy-too-much = são precisos mais de { $files } arquivos
no-copy-late = { $minutes ->
    [one] demorou mais de { $minutes } minuto
   *[other] demorou mais de { $minutes } minutos
}
no-copy-unreadable = não consigo ler de volta ({ $error }); peça de novo

## Perguntar antes

proposes-call =
    Faço isto? Diga `yes` nos próximos { $minutes } minutos; antes nada é feito.

    { $call }
not-yours-to-approve = Só a pessoa a quem perguntei pode decidir isso.
approval-over = Perguntei isso há mais de { $minutes } minutos, então deixo para lá. Peça de novo.
approval-gone = Já não sei o que perguntei ali, então deixo para lá. Peça de novo.
declined = Então deixo para lá.
approval-unknown = Já comecei `{ $tool }` e não sei o que aconteceu: verifique lá. Não faço duas vezes.
decided-before = Isso já está decidido, e nada foi feito agora. Eu disse então: { $said }
decided-before-result-gone = Isso já está decidido, e nada foi feito agora. O resultado já não está guardado.
call-done = Feito: `{ $tool }`.
call-failed = Tentei `{ $tool }`, e falhou: { $error }.
call-not-offered = não é mais oferecido aqui
call-more = … e mais { $count }

copy-title = O que o Muninn guarda de { $who }
copy-title-part = O que o Muninn guarda de { $who }, parte { $part }
copy-where = { $at } em { $place } ({ $platform })
copy-asked = Perguntei
copy-said = Eu disse a outros
copy-noted = Pedi para anotar
copy-what = { $what }:
copy-what-corrected = { $what }, corrigido em { $date }:
copy-file = com o arquivo { $name }:
copy-answer = e a resposta foi:
copy-answer-of = { $answer } de { $date }
copy-liked = Achei boa a resposta { $answer }.
copy-disliked = Achei ruim a resposta { $answer }.
