### Contas em várias plataformas, e as páginas

an-account = sua conta { $name } no { $platform }
link-code = Seu código é `{ $code }`. Na outra plataforma, diga `link { $code }` para mim em uma mensagem direta dentro de 10 minutos. A partir daí, suas contas são de uma só pessoa para mim: o que você me diz a sós em uma delas eu lembro para você também nas outras; suas cotas são compartilhadas; e `forget me` e `export mine` valem para todas. O que é dito em canais fica lá. `unlink my account` desfaz. Não dê o código a ninguém: ele é para a sua própria conta.
linked = Pronto: para mim, sua conta aqui e { $others } são de uma só pessoa. O que você me diz a sós em uma delas eu lembro para você também nas outras. `unlink my account` desfaz, e eu aviso você lá.
linked-elsewhere = Sua conta aqui foi vinculada a { $account }: o que você me diz a sós em uma delas eu lembro também na outra. Se não foi você, diga `unlink my account` agora mesmo.
link-needs-direct-message = Diga isso em uma mensagem direta no Slack, Discord ou Matrix: só lá ninguém mais lê o código, e eu sei com certeza de quem é a conta.
own-link-code = Esse é o código desta própria conta. Digite-o na outra plataforma, com a sua conta de lá.
wrong-link-code = Esse código não vale: já foi usado, tem mais de 10 minutos, ou não fui eu que dei. Diga `link my accounts` para mim na outra plataforma para receber um novo.
too-many-link-codes = Você digitou códigos demais. Tente de novo em uma hora.
too-many-accounts = { $most ->
    [one] Isso seria mais de { $most } conta. Diga `unlink my account` em uma que você não usa mais e depois `link my accounts` de novo para receber um novo código.
   *[other] Isso seriam mais de { $most } contas. Diga `unlink my account` em uma que você não usa mais e depois `link my accounts` de novo para receber um novo código.
}
unlinked = Pronto: sua conta aqui não está mais vinculada a { $others }. O que você me disse a sós lá não é mais lembrado aqui, nem o contrário.
unlinked-elsewhere = Sua conta aqui não está mais vinculada a { $account }. O que você me disse a sós lá não é mais lembrado aqui, nem o contrário.
nothing-linked = Sua conta aqui não está vinculada a nenhuma outra. Diga `link my accounts` para mim em uma mensagem direta para vincular.
link-ended = Sua conta aqui não foi usada por 90 dias, então não está mais vinculada às outras: ela pode ser de outra pessoa agora. Diga `link my accounts` para vincular de novo.

pages-link = Este link abre as páginas só para você. Funciona uma vez, em até cinco minutos: { $link }
    Você fica conectado por 12 horas, ou até dizer `web sign out`.
no-pages = Não tenho páginas para mostrar. Para isso, `WEB_ADDR=127.0.0.1:8088` precisa estar entre as configurações com que sou iniciado.
no-pages-here = Não posso dar um link a você aqui, porque não consigo perguntar a esta plataforma quem pode ler o quê.
signed-out = { $times ->
    [0] Você não estava conectado às páginas em lugar nenhum.
    [one] Você saiu das páginas ({ $times } navegador).
   *[other] Você saiu das páginas ({ $times } navegadores).
}
# $token is a secret, $address where programs ask.
token-made = Seu token, que mostro só desta vez: `{ $token }`
    Com ele, um programa me pergunta por você em { $address }, por exemplo `claude mcp add --transport http muninn { $address } --header "Authorization: Bearer …"`.
token-reads-here = Ele lê o que você pode ler neste lugar, e nada mais.
token-reads-everywhere = Ele lê o que você pode ler, em todos os lugares.
token-until = Vale até { $until }.
token-is-secret = Não o dê a ninguém: quem o tem lê o mesmo. `mcp tokens` lista seus tokens, e `mcp revoke 1` revoga um.
tokens = Seus tokens:
token-line = { $number }. Criado em { $made }, lê { $places }.
token-line-everywhere = { $number }. Criado em { $made }, lê tudo o que você pode ler.
token-used = Usado pela última vez em { $at }.
token-unused = Nunca usado.
tokens-hint = `mcp revoke 1` revoga o primeiro, `mcp revoke all` todos.
no-tokens = Você não tem tokens. `mcp token` cria um que lê este lugar, e `mcp token everywhere` um que lê o que você pode ler em qualquer lugar.
tokens-revoked = { $count ->
    [0] Você não tinha tokens.
    [one] Revogado: { $count } token. O que o usava não recebe mais nada.
   *[other] Revogados: { $count } tokens. O que os usava não recebe mais nada.
}
no-such-token = Você não tem um token número { $number }. `mcp tokens` lista os seus.
too-many-tokens = Você já tem { $most } tokens. `mcp tokens` os lista, e `mcp revoke 1` revoga um.
no-such-life = Não entendo quanto tempo é “{ $life }”. Diga como em `mcp token for 30 days`.
no-mcp = Programas não podem me perguntar aqui. Quem me opera pode me iniciar com `MCP_ADDR=127.0.0.1:8089`.
no-token-here = Não posso dar um token a você aqui, porque não consigo perguntar a esta plataforma quem pode ler o quê: ele não leria nada.
