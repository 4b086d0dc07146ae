### O que acompanha uma resposta: por que ela é menos do que poderia ser, e o que é recusado

model-down = Não consegui consultar o modelo ({ $why }); isto é só o que eu lembro:
model-down-after-tools = Não consegui pedir a resposta ao modelo ({ $why }); isto é só o que encontrei:
model-down-listed = Não consegui consultar o modelo ({ $why }); esta é uma lista do que foi dito:
embeddings-down = (O serviço de embeddings não responde, então busquei na minha memória só por palavras.)
store-down = { $turns ->
    [0] (Minha memória está inacessível no momento: respondi sem ela. Esta interação será salva quando ela voltar.)
    [one] (Minha memória está inacessível no momento: respondi a partir da última interação. Esta será salva quando ela voltar.)
   *[other] (Minha memória está inacessível no momento: respondi a partir das últimas { $turns } interações. Esta será salva quando ela voltar.)
}
store-was-down = { $turns ->
    [0] (Minha memória ficou inacessível por um momento: respondi sem ela.)
    [one] (Minha memória ficou inacessível por um momento: respondi a partir da última interação.)
   *[other] (Minha memória ficou inacessível por um momento: respondi a partir das últimas { $turns } interações.)
}
store-down-in-part = (Minha memória está inacessível no momento, então algo dela pode ter me escapado. Esta interação será salva quando ela voltar.)
store-was-down-in-part = (Minha memória ficou inacessível por um momento, então algo dela pode ter me escapado.)
store-down-later = (Minha memória ficou inacessível enquanto eu respondia. Esta interação será salva quando ela voltar.)
recall-failed = (Não consegui rever o que foi dito aqui antes, então respondi sem isso.)
bracketed = ({ $text })
knowledge-loading = O conhecimento da equipe ainda está sendo carregado, então não consegui buscar nele.
knowledge-lagging = Uma versão mais nova do conhecimento da equipe está sendo carregada; busquei na anterior.
knowledge-words-only = O serviço de embeddings não responde, então busquei no conhecimento da equipe só por palavras.
knowledge-graph-away = O grafo não respondeu a tempo, então busquei no conhecimento da equipe sem o que cerca cada resultado.
knowledge-not-asked = O grafo não respondeu, então não consegui consultar nele o conhecimento da equipe.
budget-of-person = seu orçamento
budget-of-channel = o orçamento deste canal
budget-of-all = meu orçamento
budget-nearly-up = (80 % usado neste mês: { $whose }, { $spent } de { $limit }. Quando acabar, respondo sem modelo.)
look-ups-failed = (Todas as consultas para esta resposta falharam; ela não se apoia em nenhuma.)
look-up-failed = (Uma consulta para esta resposta falhou, por isso pode faltar algo.)
cut-off = { $tokens ->
    [one] (Esta resposta foi cortada: chegou ao limite de { $tokens } token. Peça para eu continuar, ou peça que aumentem ANSWER_TOKENS.)
   *[other] (Esta resposta foi cortada: chegou ao limite de { $tokens } tokens. Peça para eu continuar, ou peça que aumentem ANSWER_TOKENS.)
}
cut-short = (Esta resposta foi cortada: o modelo não conseguia escrever mais de uma só vez. Peça para eu continuar.)
withheld = (Esta resposta está incompleta: o filtro de conteúdo do serviço do modelo reteve o resto.)
secret-removed = (Removi um segredo da sua mensagem antes de lê-la e guardá-la. Troque-o, porque outras pessoas podem ter visto aqui.)
files-in-part = (Li só uma parte de { $files }, porque há mais do que eu leio de uma vez; envie a parte que importa.)
files-need-model = (Sem um modelo, não olhei o que veio com a sua mensagem.)
images-not-seen = (Não vi as imagens que vieram com a pergunta, porque não guardo nenhuma. Se a resposta precisar delas, envie-as de novo.)
read-in-part = (Li só uma parte do que foi dito aqui antes: { $why }.)
cut-too-much = há mais do que eu leio de uma vez
cut-limited = a plataforma limita quanto posso ler de uma vez
cut-late = a plataforma não entregou tudo a tempo
cut-incomplete = a plataforma não me entrega tudo
not-kept = (Esta interação não pôde ser salva em lugar nenhum: não vou me lembrar dela.)
stopped = (parado)
no-answer = Não encontrei resposta dentro dos meus limites. Faça uma pergunta mais específica.
not-in-documents = Não consigo responder a isso a partir dos documentos e registros da equipe.
cited-sources = Fontes:
file-page = { $file }, p. { $page }
card-part-of = Parte de: { $path }
card-related = Relacionado: { $records }
card-place = Local: { $place }
file-line = { $file }, linha { $line }
took-too-long = { $seconds ->
    [one] (Parei depois de { $seconds } segundo; quem me administra pode aumentar TURN_TIMEOUT.)
   *[other] (Parei depois de { $seconds } segundos; quem me administra pode aumentar TURN_TIMEOUT.)
}
failed = Algo deu errado do meu lado e não consegui responder. Está no meu log.

## Respostas sem modelo

remember-nothing = Não me lembro de nada sobre isso.
remember-nothing-noted = Vou me lembrar disso.
asked-nothing = Estou ouvindo.
welcome = De nada.
forgot-nothing = Ainda não esqueci nada: `memory` mostra o que guardo do que você disse aqui, e `forget 2` esquece depois o segundo item.
# To "what can you do?" and the like.
what-i-do = Eu me lembro do que me dizem aqui e cito isso, assim como os documentos que recebi. Conte-me algo e pergunte-me depois; `help` mostra o que mais você pode me pedir.

quoted-asked = { $date }, { $author }
quoted-said = { $date }, { $author } a outros
quoted-replaced = { $heading } (substituído em { $date })
quoted-newer = { $heading } (mais recente)
quoted-answer = e a resposta na época:
quoted-beside = Talvez também:
quoted-other-time = Da data que você cita, não me lembro de nada sobre isso. Dito em outro momento:

## Mensagens que não são aceitas

too-long = { $chars ->
    [one] Essa mensagem tem { $chars } caractere; leio no máximo { $limit }. Envie em partes, ou só o que importa.
   *[other] Essa mensagem tem { $chars } caracteres; leio no máximo { $limit }. Envie em partes, ou só o que importa.
}
too-fast = { $per_minute ->
    [one] Isso é mais de { $per_minute } mensagem por minuto. Espere um pouco e envie de novo.
   *[other] Isso é mais de { $per_minute } mensagens por minuto. Espere um pouco e envie de novo.
}
too-many-waiting = Há mensagens demais esperando nesta conversa. Envie de novo quando eu tiver respondido.
unknown-command = Não conheço o comando “{ $name }”. Diga `help` para ver o que existe.

## Por que um modelo não respondeu, dentro de uma frase

model-unreachable = ele está inacessível
model-silent = ele não respondeu a tempo; quem me administra pode aumentar MODEL_TIMEOUT
model-unfinished = ele não terminou a tempo; quem me administra pode aumentar TURN_TIMEOUT
model-gave-up = o serviço desistiu de esperar por ele
model-late = ele não respondeu a tempo
model-unauthorized = ele recusou minha chave
model-unknown = ele não conhece { $model }
model-quota = a cota dele acabou
model-rate-limited = ele passou do limite de requisições
model-context = a conversa é longa demais para ele
model-only-reasoned = ele só escreveu o raciocínio; quem me administra pode aumentar ANSWER_TOKENS
model-over-budget = { $whose } deste mês acabou
model-busy = há requisições demais esperando por ele
model-refused = ele recusou a requisição
model-failed = ele falhou
model-broke-off = a resposta dele foi interrompida
model-nonsense = a resposta dele não fez sentido
model-unreadable = não foi possível ler a resposta dele
model-prompt = não foi possível preparar o prompt dele

## Responder de novo

no-such-answer = Não conheço mais essa resposta: ela foi esquecida, ou não é minha.
not-yours-to-ask-again = Só quem perguntou, ou { moderator }, pode pedir uma nova resposta.
too-late-to-ask-again = Muita coisa foi dita desde então para responder de novo no mesmo lugar. Pergunte outra vez.
