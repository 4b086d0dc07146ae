"""The peers: each reads the window of a session, recalls in it, and saves the turn, as its own documentation does it."""

import os
import threading

from chains import chain
from turns import ANSWER, DIMENSION, RECALLED, WINDOW, embed, event_of


def neo4j_driver():
    import neo4j

    return neo4j.GraphDatabase.driver(os.environ["NEO4J_URI"], auth=(os.environ["NEO4J_USER"], os.environ["NEO4J_PASSWORD"]))


def rows(driver, statement, **parameters):
    return [record.values() for record in driver.execute_query(statement, parameters).records]


def await_indexes(driver):
    driver.execute_query("CALL db.awaitIndexes(60)")


class Driver:
    """By hand, with the official driver: two reads and one write, the session locked first, each event once."""

    SAVE = """
        MERGE (s:Conversation {id: $session}) SET s.touched = true
        WITH s OPTIONAL MATCH (seen:Turn {event: $event})
        WITH s, seen WHERE seen IS NULL
        OPTIONAL MATCH (s)-[old:LAST]->(last)
        WITH s, collect(old) AS olds, collect(last) AS lasts
        CREATE (s)-[:HAS]->(t:Turn {event: $event, session: $session, question: $question, answer: $answer, embedding: $vector})
        CREATE (s)-[:LAST]->(t)
        FOREACH (old IN olds | DELETE old)
        FOREACH (last IN lasts | CREATE (last)-[:NEXT]->(t))"""
    WINDOW = (
        f"MATCH (:Conversation {{id: $session}})-[:LAST]->(l) MATCH p = (l)<-[:NEXT*0..{WINDOW - 1}]-(t) "
        "RETURN t.question, t.answer ORDER BY length(p) DESC"
    )
    # The index knows no sessions, so four times as many are asked for.
    RECALL = (
        "CALL db.index.vector.queryNodes('turns', $many, $vector) YIELD node, score WHERE node.session = $session "
        "RETURN node.question, node.answer, score LIMIT $few"
    )

    INDEXES = (
        "CREATE CONSTRAINT conversation FOR (s:Conversation) REQUIRE s.id IS UNIQUE",
        "CREATE CONSTRAINT event FOR (t:Turn) REQUIRE t.event IS UNIQUE",
        "CREATE VECTOR INDEX turns FOR (t:Turn) ON t.embedding OPTIONS {indexConfig: "
        f"{{`vector.dimensions`: {DIMENSION}, `vector.similarity_function`: 'cosine'}}}}",
    )

    def __init__(self, folder):
        self.driver = neo4j_driver()
        for statement in self.INDEXES:
            self.driver.execute_query(statement)
        await_indexes(self.driver)

    def turn(self, turn):
        asked = embed(turn.question).tolist()
        self.driver.execute_query(self.WINDOW, {"session": turn.session}, routing_="r")
        recall = {"session": turn.session, "vector": asked, "many": 4 * RECALLED, "few": RECALLED}
        self.driver.execute_query(self.RECALL, recall, routing_="r")
        self.save(turn)

    def save(self, turn):
        vector = embed(f"{turn.question}\n{ANSWER}").tolist()
        save = {"session": turn.session, "event": turn.event, "question": turn.question, "answer": ANSWER, "vector": vector}
        self.driver.execute_query(self.SAVE, save)

    def audit(self):
        stored = [event for (event,) in rows(self.driver, "MATCH (t:Turn) RETURN t.event")]
        lasts = rows(self.driver, "MATCH (s:Conversation)-[:LAST]->(t) RETURN s.id, elementId(t)")
        links = rows(self.driver, "MATCH (a:Turn)-[:NEXT]->(b) RETURN elementId(a), elementId(b)")
        members = rows(self.driver, "MATCH (s:Conversation)-[:HAS]->(t) RETURN s.id, elementId(t)")
        return stored, chain(lasts, links, members)


class DriverWithoutRecall(Driver):
    """Window and save alone: the least that anybody does on a Neo4j. The vector is kept, and is in no index."""

    INDEXES = Driver.INDEXES[:2]

    def turn(self, turn):
        self.driver.execute_query(self.WINDOW, {"session": turn.session}, routing_="r")
        self.save(turn)


def embeddings():
    """The same embedder, as LangChain calls it."""
    from langchain_core.embeddings import Embeddings

    class Hashed(Embeddings):
        def embed_documents(self, texts):
            return [embed(text).tolist() for text in texts]

        def embed_query(self, text):
            return embed(text).tolist()

    return Hashed()


def langchain_vectors(kind):
    """A vector store of LangChain on the same Neo4j."""
    vectors = kind(
        embedding=embeddings(),
        url=os.environ["NEO4J_URI"],
        username=os.environ["NEO4J_USER"],
        password=os.environ["NEO4J_PASSWORD"],
        index_name="exchanges",
        node_label="Exchange",
        pre_delete_collection=False,
        embedding_dimension=DIMENSION,
    )
    vectors.create_new_index()
    return vectors


class LangChain:
    """langchain-neo4j: `Neo4jChatMessageHistory` with `Neo4jVector`, which is asked within the session."""

    def __init__(self, folder):
        from langchain_neo4j import Neo4jGraph, Neo4jVector

        self.graph = Neo4jGraph(
            os.environ["NEO4J_URI"], os.environ["NEO4J_USER"], os.environ["NEO4J_PASSWORD"], refresh_schema=False
        )
        self.vectors = langchain_vectors(Neo4jVector)
        self.driver = neo4j_driver()
        # Neither makes an index for what it looks up by.
        self.driver.execute_query("CREATE CONSTRAINT session FOR (s:Session) REQUIRE s.id IS UNIQUE")
        self.driver.execute_query("CREATE CONSTRAINT exchange FOR (e:Exchange) REQUIRE e.id IS UNIQUE")
        self.driver.execute_query("CREATE INDEX of_session FOR (e:Exchange) ON (e.session)")
        await_indexes(self.driver)
        self.histories, self.lock = {}, threading.Lock()

    def history(self, session):
        from langchain_neo4j import Neo4jChatMessageHistory

        with self.lock:
            if session not in self.histories:
                self.histories[session] = Neo4jChatMessageHistory(session, window=WINDOW, graph=self.graph)
            return self.histories[session]

    def turn(self, turn):
        history = self.history(turn.session)
        history.messages
        self.vectors.similarity_search(turn.question, k=RECALLED, filter={"session": turn.session})
        history.add_user_message(turn.question)
        history.add_ai_message(ANSWER)
        self.vectors.add_texts([f"{turn.question}\n{ANSWER}"], metadatas=[{"session": turn.session}])

    def audit(self):
        # Its save doubles what is there when two run at once, so there may be very many.
        texts = rows(self.driver, "MATCH (m:Message {role: 'human'}) RETURN m.content, count(*)")
        stored = [event_of(text) for text, times in texts for _ in range(min(times, 2))]
        ends = max(times for (times,) in rows(self.driver, "MATCH (s:Session)-[r:LAST_MESSAGE]->() WITH s, count(r) AS times RETURN times"))
        if ends > 1:
            messages, expected = sum(times for _, times in texts), len(texts)
            return stored, f"no: {ends} ends, and {messages} questions where {expected} were asked"
        lasts = rows(self.driver, "MATCH (s:Session)-[:LAST_MESSAGE]->(m) RETURN s.id, elementId(m)")
        links = rows(self.driver, "MATCH (a:Message)-[:NEXT]->(b) RETURN elementId(a), elementId(b)")
        return stored, chain(lasts, links, [])


class Mem0:
    """mem0 without a model (`infer=False`). It has no window of turns, so it does less than the others.

    It has no store for Neo4j: its LangChain store is given `Neo4jVector`, which wants the texts that mem0 does not pass.
    """

    def __init__(self, folder):
        os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=str(folder), OPENAI_API_KEY="none")
        from langchain_neo4j import Neo4jVector
        from mem0 import Memory

        class WithTexts(Neo4jVector):
            def add_embeddings(self, embeddings, metadatas=None, ids=None, texts=None, **more):
                texts = texts or [data["data"] for data in metadatas]
                return super().add_embeddings(texts, embeddings, metadatas, ids, **more)

        client = langchain_vectors(WithTexts)
        self.driver = neo4j_driver()
        self.driver.execute_query("CREATE CONSTRAINT exchange FOR (e:Exchange) REQUIRE e.id IS UNIQUE")
        self.driver.execute_query("CREATE INDEX of_run FOR (e:Exchange) ON (e.run_id)")
        await_indexes(self.driver)
        self.memory = Memory.from_config(
            {
                "vector_store": {"provider": "langchain", "config": {"client": client, "collection_name": "exchanges"}},
                "embedder": {"provider": "langchain", "config": {"model": embeddings()}},
                "history_db_path": str(folder / "history.db"),
            }
        )

    def turn(self, turn):
        self.memory.search(turn.question, filters={"run_id": turn.session}, top_k=RECALLED)
        said = [{"role": "user", "content": turn.question}, {"role": "assistant", "content": ANSWER}]
        self.memory.add(said, run_id=turn.session, infer=False)

    def audit(self):
        texts = rows(self.driver, "MATCH (e:Exchange {role: 'user'}) RETURN e.data")
        return [event_of(text) for (text,) in texts], "has none"


class AgentMemory:
    """neo4j-agent-memory: its short-term memory, without extraction. A read of the latest messages has no order of its own:
    with a limit it returns the oldest, which is what is read here, since the latest would cost all of them."""

    def __init__(self, folder):
        pass

    async def open(self):
        from neo4j_agent_memory import MemoryClient, MemorySettings
        from neo4j_agent_memory.embeddings.base import BaseEmbedder

        class Hashed(BaseEmbedder):
            dimensions = DIMENSION

            async def embed(self, text):
                return embed(text).tolist()

        server = {
            "uri": os.environ["NEO4J_URI"],
            "username": os.environ["NEO4J_USER"],
            "password": os.environ["NEO4J_PASSWORD"],
        }
        settings = MemorySettings(
            neo4j=server,
            backend="bolt",
            llm=None,
            embedding={"provider": "custom", "dimensions": DIMENSION},
            extraction={"extractor_type": "none"},
        )
        self.client = MemoryClient(settings, embedder=Hashed())
        await self.client.connect()

    async def turn(self, turn):
        memory = self.client.short_term
        await memory.get_conversation(turn.session, limit=2 * WINDOW)
        await memory.search_messages(turn.question, session_id=turn.session, limit=RECALLED)
        said = [{"role": "user", "content": turn.question}, {"role": "assistant", "content": ANSWER}]
        await memory.add_messages_batch(turn.session, said)

    def audit(self):
        driver = neo4j_driver()
        stored = [event_of(text) for (text,) in rows(driver, "MATCH (m:Message {role: 'user'}) RETURN m.content")]
        # Its pointer is to the first message, so the chain is walked the other way.
        firsts = rows(driver, "MATCH (s:Conversation)-[:FIRST_MESSAGE]->(m) RETURN s.session_id, elementId(m)")
        links = rows(driver, "MATCH (a:Message)-[:NEXT_MESSAGE]->(b) RETURN elementId(b), elementId(a)")
        members = rows(driver, "MATCH (s:Conversation)-[:HAS_MESSAGE]->(m) RETURN s.session_id, elementId(m)")
        return stored, chain(firsts, links, members)


class Sqlite:
    """By hand: a table with its numbers, FTS5 and sqlite-vec, one transaction a turn, each synced, one writer at a time."""

    SCHEMA = """
        CREATE TABLE turn (id INTEGER PRIMARY KEY, session TEXT, number INTEGER, event TEXT UNIQUE, question TEXT, answer TEXT,
                           UNIQUE (session, number));
        CREATE VIRTUAL TABLE word USING fts5(session, text);
    """
    WINDOW = f"SELECT question, answer FROM turn WHERE session = ? ORDER BY number DESC LIMIT {WINDOW}"
    WORDS = f"SELECT rowid FROM word WHERE word MATCH ? ORDER BY rank LIMIT {RECALLED}"
    VECTORS = f"SELECT rowid FROM vector WHERE embedding MATCH ? AND k = {RECALLED} AND session = ?"
    SAVE = """INSERT OR IGNORE INTO turn (session, number, event, question, answer)
              VALUES (?1, (SELECT coalesce(max(number), 0) + 1 FROM turn WHERE session = ?1), ?2, ?3, ?4)"""

    def __init__(self, folder):
        self.file, self.local, self.writing = str(folder / "turns.db"), threading.local(), threading.Lock()
        connection = self.connection()
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(self.SCHEMA)
        connection.execute(f"CREATE VIRTUAL TABLE vector USING vec0(session TEXT partition key, embedding float[{DIMENSION}])")

    def connection(self):
        if not hasattr(self.local, "connection"):
            import apsw
            import sqlite_vec

            connection = apsw.Connection(self.file)
            connection.set_busy_timeout(60_000)
            connection.enable_load_extension(True)
            connection.load_extension(sqlite_vec.loadable_path())
            # Muninn does not answer before a turn is on the disk either.
            connection.execute("PRAGMA synchronous = FULL")
            self.local.connection = connection
        return self.local.connection

    def turn(self, turn):
        connection = self.connection()
        list(connection.execute(self.WINDOW, (turn.session,)))
        said = " OR ".join(f'"{word.strip(".:")}"' for word in turn.question.split())
        found = list(connection.execute(self.WORDS, (f'session : "{turn.session}" AND text : ({said})',)))
        found += connection.execute(self.VECTORS, (embed(turn.question).tobytes(), turn.session))
        for one in found[:RECALLED]:
            list(connection.execute("SELECT question, answer FROM turn WHERE id = ?", one))
        text = f"{turn.question}\n{ANSWER}"
        vector = embed(text).tobytes()
        with self.writing, connection:
            connection.execute(self.SAVE, (turn.session, turn.event, turn.question, ANSWER))
            if connection.changes():
                row = connection.last_insert_rowid()
                connection.execute("INSERT INTO word (rowid, session, text) VALUES (?, ?, ?)", (row, turn.session, text))
                connection.execute("INSERT INTO vector (rowid, session, embedding) VALUES (?, ?, ?)", (row, turn.session, vector))

    def audit(self):
        connection = self.connection()
        stored = [event for (event,) in connection.execute("SELECT event FROM turn")]
        gaps = list(connection.execute("SELECT session FROM turn GROUP BY session HAVING max(number) <> count(*)"))
        return stored, f"no: {len(gaps)} with gaps" if gaps else "yes"


PEERS = {"driver": Driver, "driver-without-recall": DriverWithoutRecall, "langchain": LangChain, "mem0": Mem0, "agent-memory": AgentMemory, "sqlite": Sqlite}
