### O que o bot é, o que se pode pedir a ele e o que custou

about = Respondo perguntas e lembro o que me disseram aqui: quando ajuda em uma pergunta posterior, uso isso. O que lembro de um lugar é lembrado só para quem está nele. Mensagens excluídas são esquecidas, assim como tudo o que você me pedir para esquecer.
about-nothing = Ainda não lembro nada deste lugar.
about-remembered = Lembro aqui { $turns } de { $conversations }, desde { $since }.

help =
    O que você pode me pedir:
    - `help`: isto
    - `about`: o que sou e o que lembro aqui
    - `history`: o que foi dito aqui ultimamente
    - `why`: de que foi feita minha última resposta
    - `catch me up`, `catch me up since Monday`: o que foi decidido, respondido e ficou em aberto { neste-canal }, só para você
    - `remember that …`: guardar isso aqui; `note: …` faz o mesmo
    - `memory`, `memory search PALAVRAS`: o que guardo do que você disse aqui; depois `forget 2` ou `correct 2: …` para um item
    - `forget last`: esquecer sua última mensagem aqui, com a resposta
    - `forget session`: esquecer tudo o que foi dito nesta { conversa }
    - `forget { $channel }`: esquecer tudo o que foi dito { neste-canal }, em todas as { conversa }s
    - `forget me`: esquecer tudo o que é seu, em todos os lugares (pergunta antes)
    - `link my accounts`, em mensagem direta: fazer sua conta aqui e uma em outra plataforma serem de uma só pessoa para mim; `unlink my account` desfaz
    - `export mine`: tudo o que guardo de você, de todos os lugares, em arquivos só para você
    - `mute`, `only when mentioned`, `unmute`: quando respondo nesta { conversa }; `mute { $channel }` e assim por diante para { todo-o-canal }
    - `remember { $channel }`, `remember only what is asked`: se lembro o que as pessoas dizem umas às outras { neste-canal }
    - `don't remember me here`, `remember me here`: se isso vale para você
    - `off`, `on`: o que as pessoas dizem nesta { conversa } fica entre elas, ou não mais; `off { $channel }` e assim por diante para { todo-o-canal }
    - `backfill since Monday`: ler o que as pessoas disseram { neste-canal } desde então, onde isso é lembrado (para quem pode gerenciar); `backfill`: até onde cheguei
    - `usage`: o que foi gasto por você e { neste-canal }
    - `web`: um link, só para você, para páginas com suas conversas e de onde vieram as respostas; `web sign out` encerra
    - `mcp token`, `mcp token everywhere for 30 days`: um token, só para você, com o qual um programa me pergunta por você; `mcp tokens` lista os seus, e `mcp revoke 1` ou `mcp revoke all` os revoga
    Qualquer outra coisa é uma mensagem para mim.

help-slash =
    Mencione-me com uma pergunta e respondo em uma thread, onde acompanho o que você diz sem menção. Ou use um comando:
    - `/ask`: pergunte aqui, só para você (`private`) ou em uma thread própria (`thread`)
    - `/why`: de que foi feita minha última resposta
    - `/catchup`: o que foi decidido, respondido e ficou em aberto neste canal, só para você
    - `/backfill`: ler o que foi dito antes neste canal, onde isso é lembrado (para quem pode gerenciar mensagens)
    - `/session`: reencontrar suas conversas
    - `/note`: guardar algo neste canal
    - `/memory`: o que guardo do que você disse aqui, só para você; `/correct`: dizer de outro jeito um desses itens
    - `/forget`: esquecer um desses itens, sua última mensagem, esta thread, este canal (para quem pode gerenciar mensagens), o que você perguntou em particular, ou tudo o que é seu, em todos os lugares
    - `/export`: tudo o que guardo de você, de todos os lugares, em arquivos por mensagem direta
    - `/web`: um link, só para você, para páginas com suas conversas e de onde vieram as respostas
    - `/mcp`: um token, só para você, com o qual um programa como um editor me pergunta por você; quais você tem; revogá-los
    - `/link`, em mensagem direta: fazer sua conta aqui e uma em outra plataforma serem de uma só pessoa para mim; `/unlink` desfaz
    - `/mute`, `/mentions`, `/unmute`: quando respondo nesta thread ou canal: nunca, só quando me mencionam, ou quando acho que é para mim
    - `/remember`: o que posso lembrar deste canal e do que você diz a outros aqui
    - `/off`, `/on`: o que as pessoas dizem nesta thread ou canal fica entre elas, ou pode ser lembrado de novo
    - `/usage`: o que você e este canal gastaram

## O que foi gasto

usage-day = Nas últimas 24 horas:
usage-month = Nos últimos 30 dias:
usage-you = - você: { $spent }
usage-here = - todos juntos aqui: { $spent }
spent = { $answers }, { $read } e { $written }
tokens-read = { $tokens } lidos
tokens-read-cached = { $tokens } lidos ({ $cached } deles em cache)
tokens-written = { $count } escritos
spent-money = { $spent }, por { $money }
usage-budget = Neste mês, { $whose }: { $spent } de { $limit }
