### Anotar, listar, corregir y olvidar lo que se recuerda

## Notas

noted-privately = Anotado, solo para ti: lo recordaré cuando tenga que ver con una pregunta tuya. `forget last` lo olvida.
noted = Anotado: lo recordaré { en-este-canal } cuando tenga que ver con una pregunta. `forget last` lo olvida.
nothing-to-note = Dime qué debo tener en cuenta: «remember that el té es a las cuatro».
proposes-note = ¿Guardo esto para ti? Di `yes`: «{ $text }»
not-noted = No pude escribirlo, así que no lo recordaré: puede que el disco esté lleno. Dímelo de nuevo más tarde.

## Listas

list-line = { $number }. [{ $date }] { $told }
list-line-corrected = { $number }. [{ $date }] { $told } (corregido el { $corrected })
list-noted = anotaste: { $text }
list-said = dijiste a otros: { $text }
list-told = tú a mí: { $text } (respondí: { $answer })
list-told-only = tú a mí: { $text }
list-hint = `forget { $first }` olvida uno de estos elementos, `correct { $first }: …` lo dice de nuevo.
list-hint-more = `forget { $first }` olvida uno de estos elementos, `correct { $first }: …` lo dice de nuevo, `memory more` muestra los anteriores.
list-hint-more-words = `forget { $first }` olvida uno de estos elementos, `correct { $first }: …` lo dice de nuevo; hay más, que se distinguen con más palabras.
recalled-hint = `forget 1` olvida lo que lleva el número 1 arriba, y `correct 1: …` lo dice de nuevo.
nothing-found = Nada de lo que guardo de lo que dijiste aquí contiene todas estas palabras.
nothing-more = Eso es todo lo que guardo de lo que dijiste aquí.
nothing-listed = No guardo nada de lo que dijiste aquí.
list-ends-after = Una lista termina después de { $listed } elementos. `memory search PALABRAS` encuentra lo anterior.
list-again = Ya no sé a qué corresponden los números. Di `memory`, o `why`, y después el número que muestre.
no-such-number = No hay número { $number } en la última lista que viste aquí, que tiene { $listed }. Di `memory` para verla de nuevo.
item-gone = Lo que tenía el número { $number } ya está olvidado. Di `memory` para ver lo que queda.
item-changed = Lo que tenía el número { $number } ha cambiado, así que lo dejé como está. Di `memory`, o `why`, para verlo de nuevo.
not-your-item = El número { $number } lo dijo otra persona; solo ella o { moderator } puede hacer que se cambie.

## Correcciones

nothing-to-correct = Di lo que es correcto: «correct { $number }: el té es a las cinco».
nothing-stated = El número { $number } es una pregunta, y su respuesta solo cita lo que se dijo. Corrige lo que cita: `memory search PALABRAS` lo muestra con su número.
corrected-item = Corregido: desde ahora eso vale en lugar del número { $number }, que guardo solo como lo que se dijo antes.
already-corrected = { $by } lo corrigió el { $at }. Di `memory search PALABRAS`, o `why`, y corrige lo que vale ahora.

## Olvidar

nothing-to-forget = Aquí no hay nada tuyo que olvidar.
not-yours-to-forget = Aquí también hablaron otros; solo { moderator } puede hacer que se olvide todo. «{ $forget_last }» olvida tu último intercambio.
not-your-message = No guardo nada tuyo bajo el mensaje al que respondiste, así que no olvidé nada. «{ $forget_last }», sin responder a un mensaje, olvida tu último mensaje aquí.
forgot-turn = { $quotes ->
    [0] Olvidado: { $what }, y todo lo que la memoria sabía de ello.
    [one] Olvidado: { $what }, y todo lo que la memoria sabía de ello, y { $quotes } respuesta posterior que lo citaba.
   *[other] Olvidado: { $what }, y todo lo que la memoria sabía de ello, y { $quotes } respuestas posteriores que lo citaban.
}
forgotten-exchange = tu mensaje del { $at }, con su respuesta
forgotten-heard = tu mensaje del { $at }, que escribiste a otros
forgotten-note = tu nota del { $at }
forgotten-last = tu último mensaje aquí
forgot-waiting-turn = Olvidado: tu último intercambio, que aún esperaba a guardarse. Ahora no puedo acceder a mi memoria; si de todos modos llegó allí, di «forget last» otra vez cuando vuelva.
forgot-item = { $earlier ->
    [0] Olvidado: lo que tenía el número { $number }, con todo lo que la memoria sabía de ello.
    [one] Olvidado: lo que tenía el número { $number }, con todo lo que la memoria sabía de ello y { $earlier } versión que había corregido.
   *[other] Olvidado: lo que tenía el número { $number }, con todo lo que la memoria sabía de ello y { $earlier } versiones que había corregido.
}
forgot-all = Olvidado: todo lo que se dijo en esta conversación.
forgot-session = { $turns ->
    [one] Olvidado: el único intercambio { en-esta-conversacion }.
   *[other] Olvidado: los { $turns } intercambios { en-esta-conversacion }.
}
forgot-audience = { $turns ->
    [one] Olvidado: el único intercambio { de-este-canal }, { todas-conversaciones }.
   *[other] Olvidado: los { $turns } intercambios { de-este-canal }, { todas-conversaciones }.
}
todas-conversaciones = { $conversation ->
    [thread] en todos sus hilos
   *[conversation] en todas sus conversaciones
}
moderator-needed = Solo { moderator } puede hacer que se olvide { todo-el-canal }. «{ $forget_last }» olvida tu último intercambio.
held = (Este lugar está bajo retención legal: ya no se muestra a nadie, pero quien me administra tiene una copia hasta que termine la retención.)
still-in-file = (Ya no lo uso, pero su texto sigue en un archivo mío que no se pudo escribir: puede que el disco esté lleno. Se quitará cuando se pueda volver a escribir.)
removed-later = { $count ->
    [one] Todavía no pude quitar { $count } mensaje mío; lo sigo intentando.
   *[other] Todavía no pude quitar { $count } mensajes míos; lo sigo intentando.
}
stays-visible = { $count ->
    [one] { $count } mensaje mío sigue visible, porque { $why }.
   *[other] { $count } mensajes míos siguen visibles, porque { $why }.
}
store-needed = Ahora no puedo acceder a mi memoria, así que no puedo hacerlo. Inténtalo más tarde.

## Olvidar a una persona

kept-of-person = { $accounts ->
    [0] { $questions } con lo que respondí, { $messages } a otros y { $notes }, en { $conversations }
    [one] { $questions } con lo que respondí, { $messages } a otros y { $notes }, en { $conversations }
   *[other] { $questions } con lo que respondí, { $messages } a otros y { $notes }, en { $conversations }, de { $accounts } cuentas vinculadas
}
ask-forget-me = Esto olvida todo lo tuyo, en todos los lugares donde estoy: { $kept }; lo que opinaste de las respuestas; y lo que haya de ello en respuestas a otros. Retiro mis respuestas a ti, y no se puede deshacer. Si eso quieres, di `{ $command }`.
forgot-me = Olvidé todo lo tuyo: { $kept }, y lo que opinaste de las respuestas.
forgot-me-repeated = { $count ->
    [one] Vacié { $count } respuesta más que lo citaba o lo repetía.
   *[other] Vacié { $count } respuestas más que lo citaban o lo repetían.
}
forgot-me-accounts = Tus cuentas ya no están vinculadas.
forgot-me-out-of-reach = Fuera de mi alcance quedan tus propios mensajes aquí, lo que otros escribieron sobre ellos, lo que guarda el servicio del modelo y las copias de seguridad de quien me administra. Lo que me pediste de no recordarte { en-un-canal } sigue en pie.
en-un-canal = { $channel ->
    [room] en una sala
   *[channel] en un canal
}
forgot-me-held = { $count ->
    [one] Un lugar está bajo retención legal: ya no se muestra a nadie lo que dijiste allí, pero quien me administra tiene una copia hasta que termine la retención.
   *[other] { $count } lugares están bajo retención legal: ya no se muestra a nadie lo que dijiste allí, pero quien me administra tiene una copia hasta que termine la retención.
}

## Una copia de lo propio

export-under-way = Ya estoy reuniendo lo que guardo de ti. Espera un momento.
nothing-kept-of-you = No guardo nada tuyo.
handed-over-directly = Te lo envié en un mensaje directo.
handed-over-here = { $count ->
    [one] Esto es todo lo que guardo de ti: { $count } elemento, en JSON para programas y en Markdown para leer.
   *[other] Esto es todo lo que guardo de ti: { $count } elementos, en JSON para programas y en Markdown para leer.
}
handed-over-at = { $count ->
    [one] Todo lo que guardo de ti ({ $count } elemento) está en { $paths }, que nadie más puede leer.
   *[other] Todo lo que guardo de ti ({ $count } elementos) está en { $paths }, que nadie más puede leer.
}
not-handed-over = No pude darte lo que guardo de ti, porque { $why }. Quien me administra puede crear los archivos con `muninn export mine.json --person { $person }`.
no-copy-disk = no pude escribir los archivos; puede que el disco esté lleno
no-copy-too-much = hacen falta más de { $files } archivos
no-copy-late = { $minutes ->
    [one] tardó más de { $minutes } minuto
   *[other] tardó más de { $minutes } minutos
}
no-copy-unreadable = no puedo volver a leerlo ({ $error }); pídelo otra vez

## Preguntar antes

proposes-call =
    ¿Hago esto? Di `yes` en los próximos { $minutes } minutos; antes no se hace nada.

    { $call }
not-yours-to-approve = Eso solo puede decidirlo la persona a quien pregunté.
approval-over = Lo pregunté hace más de { $minutes } minutos, así que lo dejo. Pídemelo de nuevo.
approval-gone = Ya no sé qué pregunté ahí, así que lo dejo. Pídemelo de nuevo.
declined = Entonces lo dejo.
approval-unknown = Ya empecé `{ $tool }` y no sé qué pasó: compruébalo allí. No lo hago dos veces.
decided-before = Eso ya está decidido y ahora no se hizo nada. Entonces dije: { $said }
decided-before-result-gone = Eso ya está decidido y ahora no se hizo nada. El resultado ya no se conserva.
call-done = Hecho: `{ $tool }`.
call-failed = Intenté `{ $tool }` y falló: { $error }.
call-not-offered = ya no se ofrece aquí
call-more = … y { $count } más

copy-title = Lo que Muninn guarda de { $who }
copy-title-part = Lo que Muninn guarda de { $who }, parte { $part }
copy-where = { $at } en { $place } ({ $platform })
copy-asked = Pregunté
copy-said = Dije a otros
copy-noted = Hice anotar
copy-what = { $what }:
copy-what-corrected = { $what }, corregido el { $date }:
copy-file = con el archivo { $name }:
copy-answer = y la respuesta fue:
copy-answer-of = { $answer } del { $date }
copy-liked = La respuesta { $answer } me pareció buena.
copy-disliked = La respuesta { $answer } me pareció mala.
