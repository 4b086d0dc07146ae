### Lo que acompaña a una respuesta: por qué es menos de lo que podría ser, y lo que se rechaza

model-down = No pude consultar al modelo ({ $why }); esto es solo lo que recuerdo:
model-down-after-tools = No pude pedirle la respuesta al modelo ({ $why }); esto es solo lo que encontré:
model-down-listed = No pude consultar al modelo ({ $why }); esta es una lista de lo que se dijo:
embeddings-down = (El servicio de embeddings no responde, así que busqué en mi memoria solo por palabras.)
store-down = { $turns ->
    [0] (Ahora no puedo acceder a mi memoria: respondí sin ella. Este intercambio se guardará cuando vuelva.)
    [one] (Ahora no puedo acceder a mi memoria: respondí a partir del último intercambio. Este se guardará cuando vuelva.)
   *[other] (Ahora no puedo acceder a mi memoria: respondí a partir de los últimos { $turns } intercambios. Este se guardará cuando vuelva.)
}
store-was-down = { $turns ->
    [0] (Por un momento no pude acceder a mi memoria: respondí sin ella.)
    [one] (Por un momento no pude acceder a mi memoria: respondí a partir del último intercambio.)
   *[other] (Por un momento no pude acceder a mi memoria: respondí a partir de los últimos { $turns } intercambios.)
}
store-down-in-part = (Ahora no puedo acceder a mi memoria, así que puede haberme faltado algo de ella. Este intercambio se guardará cuando vuelva.)
store-was-down-in-part = (Por un momento no pude acceder a mi memoria, así que puede haberme faltado algo de ella.)
store-down-later = (Mientras respondía perdí el acceso a mi memoria. Este intercambio se guardará cuando vuelva.)
recall-failed = (No pude repasar lo que se dijo aquí antes, así que respondí sin ello.)
bracketed = ({ $text })
knowledge-loading = El conocimiento del equipo todavía se está cargando, así que no pude buscar en él.
knowledge-lagging = Se está cargando una versión más nueva del conocimiento del equipo; busqué en la anterior.
knowledge-words-only = El servicio de embeddings no responde, así que busqué en el conocimiento del equipo solo por palabras.
knowledge-graph-away = El grafo no respondió a tiempo, así que busqué en el conocimiento del equipo sin lo que rodea a cada resultado.
knowledge-not-asked = El grafo no respondió, así que no pude consultarle el conocimiento del equipo.
budget-of-person = tu presupuesto
budget-of-channel = el presupuesto de este canal
budget-of-all = mi presupuesto
budget-nearly-up = (Usado al 80 % este mes: { $whose }, { $spent } de { $limit }. Cuando se agote, responderé sin modelo.)
look-ups-failed = (Todas las consultas para esta respuesta fallaron, así que no se apoya en ninguna.)
look-up-failed = (Una consulta para esta respuesta falló, así que puede faltar algo.)
cut-off = { $tokens ->
    [one] (Esta respuesta está cortada: llegó a su límite de { $tokens } token. Pídeme que siga, o haz que aumenten ANSWER_TOKENS.)
   *[other] (Esta respuesta está cortada: llegó a su límite de { $tokens } tokens. Pídeme que siga, o haz que aumenten ANSWER_TOKENS.)
}
cut-short = (Esta respuesta está cortada: el modelo no podía escribir más de una sola vez. Pídeme que siga.)
withheld = (Esta respuesta está incompleta: el filtro de contenido del servicio del modelo retuvo el resto.)
secret-removed = (Quité un secreto de tu mensaje antes de leerlo y guardarlo. Cámbialo, porque otros pueden haberlo visto aquí.)
files-in-part = (Leí solo una parte de { $files }, porque es más de lo que leo de una vez; envíame la parte que importa.)
files-need-model = (Sin un modelo no he mirado lo que venía con tu mensaje.)
images-not-seen = (No vi las imágenes que venían con la pregunta, porque no guardo ninguna. Si la respuesta las necesita, envíalas otra vez.)
read-in-part = (Leí solo una parte de lo que se dijo aquí antes: { $why }.)
cut-too-much = hay más de lo que leo de una vez
cut-limited = la plataforma limita cuánto puedo leer de una vez
cut-late = la plataforma no lo dio todo a tiempo
cut-incomplete = la plataforma no me lo da todo
not-kept = (Este intercambio no se pudo guardar en ningún sitio: no lo recordaré.)
stopped = (detenido)
no-answer = No encontré respuesta dentro de mis límites. Pregunta algo más concreto.
not-in-documents = No puedo responder a eso a partir de los documentos y registros del equipo.
cited-sources = Fuentes:
file-page = { $file }, p. { $page }
card-part-of = Parte de: { $path }
card-related = Relacionado: { $records }
card-place = Ubicación: { $place }
file-line = { $file }, línea { $line }
took-too-long = { $seconds ->
    [one] (Me detuve después de { $seconds } segundo; quien me administra puede aumentar TURN_TIMEOUT.)
   *[other] (Me detuve después de { $seconds } segundos; quien me administra puede aumentar TURN_TIMEOUT.)
}
failed = Algo salió mal por mi parte y no pude responder. Está en mi registro.

## Respuestas sin modelo

remember-nothing = No recuerdo nada de eso.
remember-nothing-noted = Lo recordaré.
asked-nothing = Te escucho.
welcome = De nada.
forgot-nothing = Todavía no he olvidado nada: `memory` muestra lo que guardo de lo que dijiste aquí, y `forget 2` olvida después el segundo elemento.
# To "what can you do?" and the like.
what-i-do = Recuerdo lo que se me dice aquí y lo cito, igual que los documentos que me dieron. Cuéntame algo y pregúntame más tarde; `help` muestra qué más puedes pedirme.

quoted-asked = { $date }, { $author }
quoted-said = { $date }, { $author } a otros
quoted-replaced = { $heading } (reemplazado el { $date })
quoted-newer = { $heading } (más reciente)
quoted-answer = y la respuesta de entonces:
quoted-beside = Quizá también:
quoted-other-time = De la fecha que nombras no recuerdo nada de eso. Dicho en otro momento:

## Mensajes que no se aceptan

too-long = { $chars ->
    [one] Ese mensaje tiene { $chars } carácter; leo como máximo { $limit }. Envíalo por partes, o solo lo importante.
   *[other] Ese mensaje tiene { $chars } caracteres; leo como máximo { $limit }. Envíalo por partes, o solo lo importante.
}
too-fast = { $per_minute ->
    [one] Es más de { $per_minute } mensaje por minuto. Espera un poco y envíalo de nuevo.
   *[other] Son más de { $per_minute } mensajes por minuto. Espera un poco y envíalo de nuevo.
}
too-many-waiting = Hay demasiados mensajes en espera en esta conversación. Envíalo de nuevo cuando haya respondido.
unknown-command = No conozco el comando «{ $name }». Di `help` para ver lo que hay.

## Por qué un modelo no respondió, dentro de una frase

model-unreachable = no está disponible
model-silent = no respondió a tiempo; quien me administra puede aumentar MODEL_TIMEOUT
model-unfinished = no terminó a tiempo; quien me administra puede aumentar TURN_TIMEOUT
model-gave-up = su servicio dejó de esperarlo
model-late = no respondió a tiempo
model-unauthorized = rechazó mi clave
model-unknown = no conoce { $model }
model-quota = su cuota está agotada
model-rate-limited = superó su límite de peticiones
model-context = la conversación es demasiado larga para él
model-only-reasoned = solo escribió su razonamiento; quien me administra puede aumentar ANSWER_TOKENS
model-over-budget = { $whose } de este mes está agotado
model-busy = hay demasiadas peticiones en espera
model-refused = rechazó la petición
model-failed = falló
model-broke-off = su respuesta se interrumpió
model-nonsense = su respuesta no tenía sentido
model-unreadable = su respuesta no se pudo leer
model-prompt = su prompt no se pudo preparar

## Responder de nuevo

no-such-answer = Ya no conozco esa respuesta: se olvidó, o no es mía.
not-yours-to-ask-again = Solo quien preguntó, o { moderator }, puede pedir que se responda de nuevo.
too-late-to-ask-again = Desde entonces se dijo demasiado para responder de nuevo en su lugar. Vuelve a preguntar.
