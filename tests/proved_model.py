"""A model whose patterns are all served, with one of everything that can go wrong in a design."""

from hashrange.modeling.loading import loads
from hashrange.modeling.model import Model

TEXT = """
hashrange: 1
name: desk
tables:
  desk:
    partition_key: PK
    sort_key: SK
    indexes:
      GSI1: {partition_key: GSI1PK, sort_key: GSI1SK, projection: ALL}
      GSI2: {partition_key: [country, city], sort_key: [street], projection: [user_id]}
      GSI3: {partition_key: GSI3PK, sort_key: {name: score, type: N}, projection: [title, user_id]}
      LSI1: {local: true, sort_key: LSI1SK}
entities:
  User:
    count: 40
    keys: {PK: "USER#{user_id}", SK: PROFILE, GSI1PK: "EMAIL#{email}", GSI1SK: PROFILE}
    attributes:
      user_id: S
      email: email
      country: {values: [de, fr]}
      city: {type: S, distinct: 5}
      street: S
      bio: {type: S, size: 300, optional: 30%}
  Ticket:
    count: {count: 15 per User, spread: zipf 1.1}
    keys:
      PK: USER#{user_id}
      SK: TICKET#{opened_at}#{ticket_id}
      GSI1PK: {template: "OPEN#{shard(ticket_id, 4)}", if: status = "OPEN"}
      GSI1SK: {template: "{opened_at}", if: status = "OPEN"}
      GSI3PK: SCORES
      LSI1SK: "{level:06}"
    attributes:
      ticket_id: ulid
      opened_at: timestamp
      status: {values: [OPEN, DONE]}
      level: {format: integer, minimum: 0, maximum: 5000}
      score: {format: integer, minimum: -50, maximum: 50}
      title: {type: S, size: 30}
      labels: SS
  Note:
    count: 4 per User
    keys: {PK: "USER#{user_id}", SK: "NOTE#{note_id}"}
    attributes: {note_id: uuid, text: {type: S, size: 2KB}}
patterns:
  - {id: A1, entity: User, where: user_id = ?user}
  - {id: A2, entity: User, where: email = ?email}
  - {id: A3, entity: Ticket, where: user_id = ?user and opened_at >= ?since, order: opened_at desc, limit: 5}
  - {id: A4, entity: Ticket, where: user_id = ?user and opened_at between ?low and ?high, filter: status = "DONE"}
  - {id: A5, entity: Ticket, where: status = "OPEN", order: opened_at, limit: 30}
  - {id: A6, entity: User, where: country = ?country and city = ?city, project: [user_id]}
  - {id: A7, entity: Ticket, where: score >= ?score, order: score desc, project: [title, score]}
  - {id: A8, entity: Ticket, where: user_id = ?user, order: level}
  - {id: A9, entities: [User, Ticket, Note], where: user_id = ?user}
  - {id: A10, entity: Note, where: user_id = ?user and note_id = ?note, operation: BatchGetItem, batch: 5}
  - {id: A11, entity: Ticket, where: user_id = ?user and opened_at < now - 1 day}
  - {id: W1, write: {put: User, if: not exists}}
  - {id: W2, write: {update: Ticket, set: status = "DONE", if: status = "OPEN"}}
  - id: W3
    transaction:
      - {update: Ticket, set: level = level - ?n, if: level >= ?n}
      - {put: Note, if: not exists}
    token: true
  - {id: W4, batch: [{put: Note, count: 30}, {delete: User}]}
  - {id: W5, write: {delete: Note, if: text <> ?text}}
  - {id: W6, write: {update: User, set: bio = ?bio}}
  - {id: W7, write: {update: Ticket, add: score 1}}
  - {id: W9, write: {update: User, set: bio = ?bio, if: not exists}}
  - id: W8
    transaction:
      - {check: User, if: exists}
      - {put: Ticket, if: not exists}
"""


def changed(*changes: tuple[str, str]) -> str:
    """The text with some of its words replaced, each of which has to be there."""
    text = TEXT
    for before, after in changes:
        assert before in text, before
        text = text.replace(before, after)
    return text


def proved_model(*changes: tuple[str, str]) -> Model:
    return loads(changed(*changes))
