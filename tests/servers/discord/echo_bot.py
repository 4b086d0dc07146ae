"""A bot on discord.py that repeats what it is asked: echo_bot.py URL GATEWAY TOKEN."""

import logging
import sys

import discord
import yarl
from discord import app_commands
from discord.gateway import DiscordWebSocket

url, gateway, token = sys.argv[1:]
discord.http.Route.BASE = f"{url}/api/v10"
DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(gateway)

intents = discord.Intents.none()
intents.guilds = intents.messages = intents.message_content = True


class Under(discord.ui.View):
    def __init__(self):
        super().__init__(timeout=None)

    @discord.ui.button(label="Why?", custom_id="v1:why", style=discord.ButtonStyle.secondary)
    async def why(self, interaction, button):
        await interaction.response.send_message("because", ephemeral=True)


class Echo(discord.Client):
    def __init__(self):
        super().__init__(intents=intents, allowed_mentions=discord.AllowedMentions.none())
        self.tree = app_commands.CommandTree(self)

    async def setup_hook(self):
        # Known from the beginning: a test clicks before the answer to the edit is here.
        self.add_view(Under())
        await self.tree.sync()

    async def on_message(self, message):
        if message.author.bot or message.type not in (discord.MessageType.default, discord.MessageType.reply):
            return
        text = message.content.replace(f"<@{self.user.id}> ", "")
        place = message.channel
        if not isinstance(place, discord.Thread):
            if self.user not in message.mentions:
                return
            place = await message.create_thread(name="Answer")
        async with place.typing():
            said = await place.send("…")
            await said.edit(content=f"echo: {text}")


bot = Echo()


@bot.tree.command(name="ask", description="Asks")
async def ask(interaction: discord.Interaction, question: str, private: bool = False):
    await interaction.response.defer(ephemeral=private)
    await interaction.edit_original_response(content=f"echo: {question}", view=Under())


@bot.tree.command(name="session", description="Finds")
async def session(interaction: discord.Interaction, name: str):
    await interaction.response.send_message(name)


@session.autocomplete("name")
async def complete(interaction: discord.Interaction, typed: str):
    return [app_commands.Choice(name=f"the one of {typed}", value=typed)]


bot.run(token, log_level=logging.WARNING)
