### Por qué: de qué está hecha una respuesta

why-answered = Mi última respuesta fue a: { $question }
why-understood = Entendido como: { $question }
why-cypher = Cypher ejecutado:
why-trust-file = Se apoya en un archivo que vino con un mensaje, o en una respuesta que lo hace. Sus enlaces pueden mostrarse como texto.
why-trust-tool = Se apoya en lo que dio una herramienta, o en una respuesta que lo hace. Sus enlaces pueden mostrarse como texto.
why-trust-documents = Se apoya en documentos o registros del equipo, o en una respuesta que lo hace. Sus enlaces pueden mostrarse como texto.
why-removed = Hecha de fuentes que se quitaron desde entonces, así que no se puede mostrar nada de ellas: { $names }.
why-recalled-nothing = Recordado: nada.
why-recalled = Recordado:
recalled-note = { $number }. { $score } anotado por { $author } el { $date }: { $said }
recalled-turn = { $number }. { $score } [{ $date }, { $author }] { $said }
recalled-message = { $number }. { $score } dicho por { $author } el { $date }: { $said }
recalled-message-in = { $number }. { $score } dicho por { $author } en { $place } el { $date }: { $said }
why-feedback = Opiniones: 👍 { $good }, 👎 { $bad }.

## Quién la escribió y qué costó

why-written = Escrita por { $model } { $cost }.
why-written-knowledge = Escrita por { $model } a partir del grafo de conocimiento del equipo { $cost }.
why-written-documents = Escrita por { $model } a partir de los documentos y registros del equipo { $cost }.
why-the-model = el modelo
why-cost = en { $seconds } s, { $read } y { $written }
why-cost-one-call = { $cost }, en 1 llamada
why-cost-calls = { $cost }, en { $count } llamadas: { $calls }
why-quotes-knowledge = No la escribió ningún modelo: enumera lo que contiene el grafo de conocimiento del equipo.
why-quotes-documents = No la escribió ningún modelo: cita los documentos y registros del equipo.
why-quotes-memory = No la escribió ningún modelo: solo cita la memoria.
why-not-answered = No se respondió nada.

## Herramientas

why-tools = Herramientas:
why-critic-nothing = El crítico no preguntó nada más.
why-critic-asked = El crítico preguntó: { $questions }
why-tool = - { $name } { $arguments }: { $outcome }, en { $ms } ms
why-tool-repaired = { $repairs ->
    [one] - { $name } { $arguments }: { $outcome }, reescrito una vez, en { $ms } ms
   *[other] - { $name } { $arguments }: { $outcome }, reescrito { $repairs } veces, en { $ms } ms
}
tool-failed = falló: { $error }
tool-found = encontró { $count }
tool-found-nothing = no encontró nada
tool-proposed = se preguntó antes

## Conocimiento

why-made-from = Hecha de:
source-score = (puntuación { $score })
source-changed = (cambió desde entonces)
source-more = - y { $count } más
