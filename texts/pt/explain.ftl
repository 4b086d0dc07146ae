### Por quê: de que foi feita uma resposta

why-answered = Minha última resposta foi a: { $question }
why-understood = Entendido como: { $question }
why-cypher = Cypher executado:
why-trust-file = Ela se apoia em um arquivo que veio com uma mensagem, ou em uma resposta que faz isso. Os links nela podem ser mostrados como texto.
why-trust-tool = Ela se apoia no que uma ferramenta deu, ou em uma resposta que faz isso. Os links nela podem ser mostrados como texto.
why-trust-documents = Ela se apoia em documentos ou registros da equipe, ou em uma resposta que faz isso. Os links nela podem ser mostrados como texto.
why-removed = Feita de fontes removidas desde então, das quais nada pode ser mostrado: { $names }.
why-recalled-nothing = Lembrado: nada.
why-recalled = Lembrado:
recalled-note = { $number }. { $score } anotado por { $author } em { $date }: { $said }
recalled-turn = { $number }. { $score } [{ $date }, { $author }] { $said }
recalled-message = { $number }. { $score } dito por { $author } em { $date }: { $said }
recalled-message-in = { $number }. { $score } dito por { $author } em { $place }, { $date }: { $said }
why-feedback = Opiniões: 👍 { $good }, 👎 { $bad }.

## Quem escreveu, e quanto custou

why-written = Escrita por { $model } { $cost }.
why-written-knowledge = Escrita por { $model } a partir do grafo de conhecimento da equipe { $cost }.
why-written-documents = Escrita por { $model } a partir dos documentos e registros da equipe { $cost }.
why-the-model = o modelo
why-cost = em { $seconds } s, { $read } e { $written }
why-cost-one-call = { $cost }, em 1 chamada
why-cost-calls = { $cost }, em { $count } chamadas: { $calls }
why-quotes-knowledge = Nenhum modelo a escreveu: ela lista o que há no grafo de conhecimento da equipe.
why-quotes-documents = Nenhum modelo a escreveu: ela cita documentos e registros da equipe.
why-quotes-memory = Nenhum modelo a escreveu: ela só cita a memória.
why-not-answered = Nada foi respondido a isso.

## Ferramentas

why-tools = Ferramentas:
why-critic-nothing = O crítico não perguntou mais nada.
why-critic-asked = O crítico perguntou: { $questions }
why-tool = - { $name } { $arguments }: { $outcome }, em { $ms } ms
why-tool-repaired = { $repairs ->
    [one] - { $name } { $arguments }: { $outcome }, reescrito uma vez, em { $ms } ms
   *[other] - { $name } { $arguments }: { $outcome }, reescrito { $repairs } vezes, em { $ms } ms
}
tool-failed = falhou: { $error }
tool-found = encontrou { $count }
tool-found-nothing = não encontrou nada
tool-proposed = perguntado antes

## Conhecimento

why-made-from = Feita de:
source-score = (pontuação { $score })
source-changed = (mudou desde então)
source-more = - e mais { $count }
