### Les comptes sur plusieurs plateformes, et les pages

an-account = votre compte { $name } sur { $platform }
link-code = Votre code est `{ $code }`. Sur l’autre plateforme, dites-moi `link { $code }` en message privé dans les 10 minutes. Dès lors, vos comptes seront pour moi ceux d’une même personne : ce que vous me dites en privé sur l’un, je m’en souviens pour vous sur les autres ; vos quotas sont partagés ; `forget me` et `export mine` les concernent tous. Ce qui se dit dans les canaux y reste. `unlink my account` annule le lien. Ne donnez ce code à personne : il est pour votre propre compte.
linked = C’est fait : pour moi, votre compte ici et { $others } sont ceux d’une même personne. Ce que vous me dites en privé sur l’un, je m’en souviens pour vous sur les autres. `unlink my account` annule le lien, et je vous préviens là-bas.
linked-elsewhere = Votre compte ici a été lié à { $account } : ce que vous me dites en privé sur l’un, je m’en souviens sur l’autre. Si ce n’était pas vous, dites tout de suite `unlink my account`.
link-needs-direct-message = Dites-le-moi en message privé sur Slack, Discord ou Matrix : là seulement, personne d’autre ne lit le code, et je sais avec certitude à qui est le compte.
own-link-code = C’est le code de ce compte lui-même. Entrez-le sur l’autre plateforme, depuis votre compte là-bas.
wrong-link-code = Ce code n’est pas valable : il a servi, date de plus de 10 minutes, ou ne vient pas de moi. Dites-moi `link my accounts` sur l’autre plateforme pour en obtenir un nouveau.
too-many-link-codes = Vous avez saisi trop de codes. Réessayez dans une heure.
too-many-accounts = { $most ->
    [one] Cela ferait plus de { $most } compte. Dites `unlink my account` sur un compte que vous n’utilisez plus, puis de nouveau `link my accounts` pour un nouveau code.
   *[other] Cela ferait plus de { $most } comptes. Dites `unlink my account` sur un compte que vous n’utilisez plus, puis de nouveau `link my accounts` pour un nouveau code.
}
unlinked = C’est fait : votre compte ici n’est plus lié à { $others }. Je ne me souviens plus ici de ce que vous m’avez dit en privé là-bas, ni l’inverse.
unlinked-elsewhere = Votre compte ici n’est plus lié à { $account }. Je ne me souviens plus ici de ce que vous m’avez dit en privé là-bas, ni l’inverse.
nothing-linked = Votre compte ici n’est lié à aucun autre. Dites-moi `link my accounts` en message privé pour le lier.
link-ended = Votre compte ici n’a pas servi depuis 90 jours ; il n’est donc plus lié aux autres, car il pourrait être à quelqu’un d’autre. Dites `link my accounts` pour le lier de nouveau.

pages-link = Ce lien ouvre les pages pour vous seul. Il sert une fois, dans les cinq minutes : { $link }
    Vous restez connecté 12 heures, ou jusqu’à ce que vous disiez `web sign out`.
no-pages = Je n’ai pas de pages à montrer. Il faut `WEB_ADDR=127.0.0.1:8088` parmi les réglages avec lesquels je suis lancé.
no-pages-here = Je ne peux pas vous donner de lien ici, car je ne peux pas demander à cette plateforme qui a le droit de lire quoi.
signed-out = { $times ->
    [0] Vous n’étiez connecté aux pages nulle part.
    [one] Vous êtes déconnecté des pages ({ $times } navigateur).
   *[other] Vous êtes déconnecté des pages ({ $times } navigateurs).
}
# $token is a secret, $address where programs ask.
token-made = Ton jeton, que je ne montre que cette fois : `{ $token }`
    Il permet à un programme de me poser des questions pour toi à l’adresse { $address }, par exemple `claude mcp add --transport http muninn { $address } --header "Authorization: Bearer …"`.
token-reads-here = Il lit ce que tu peux lire ici, et rien d’autre.
token-reads-everywhere = Il lit ce que tu peux lire, partout.
token-until = Il est valable jusqu’au { $until }.
token-is-secret = Ne le donne à personne : quiconque l’a lit la même chose. `mcp tokens` liste tes jetons, et `mcp revoke 1` en révoque un.
tokens = Tes jetons :
token-line = { $number }. Créé le { $made }, lit { $places }.
token-line-everywhere = { $number }. Créé le { $made }, lit tout ce que tu peux lire.
token-used = Utilisé pour la dernière fois le { $at }.
token-unused = Jamais utilisé.
tokens-hint = `mcp revoke 1` révoque le premier, `mcp revoke all` tous.
no-tokens = Tu n’as pas de jeton. `mcp token` en crée un qui lit ce lieu, et `mcp token everywhere` un qui lit ce que tu peux lire partout.
tokens-revoked = { $count ->
    [0] Tu n’avais pas de jeton.
    [one] Révoqué : { $count } jeton. Ce qui l’utilisait n’apprend plus rien.
   *[other] Révoqués : { $count } jetons. Ce qui les utilisait n’apprend plus rien.
}
no-such-token = Tu n’as pas de jeton numéro { $number }. `mcp tokens` liste les tiens.
too-many-tokens = Tu as déjà { $most } jetons. `mcp tokens` les liste, et `mcp revoke 1` en révoque un.
no-such-life = Je ne comprends pas combien de temps dure « { $life } ». Dis-le comme dans `mcp token for 30 days`.
no-mcp = Les programmes ne peuvent pas m’interroger ici. La personne qui m’exploite peut me lancer avec `MCP_ADDR=127.0.0.1:8089`.
no-token-here = Je ne peux pas donner de jeton ici, car je ne peux pas demander à cette plateforme qui a le droit de lire quoi : il ne lirait rien.
