"""A model with something of everything that a page shows: names that are markup, a hot index, a pattern with no key."""

HOSTILE = "<script>alert(1)</script>"
HOT = """\
hashrange: 1
name: "feed <script>alert(1)</script>"
description: "Posts & <img src=x onerror=alert(2)>"
curves:
  evening: {peak: 2x, at: "20:00", width: 2h}
tables:
  feed:
    partition_key: PK
    sort_key: SK
    indexes:
      by_day: {partition_key: day, sort_key: posted_at, projection: KEYS_ONLY}
      sparse: {partition_key: pinned_by, projection: [body]}
entities:
  Topic:
    count: 5000
    keys: {PK: "TOPIC#{topic}", SK: TOPIC}
    attributes: {topic: uuid, title: {type: S, size: 40}}
  Post:
    count: 200 per Topic
    keys: {PK: "TOPIC#{topic}", SK: "POST#{posted_at}#{post_id}", day: "DAY#{posted_at:.10}"}
    attributes:
      post_id: uuid
      topic: {type: S, refers: Topic}
      posted_at: timestamp
      body: {type: S, size: 300}
      kind: {values: ["<script>alert(1)</script>", "javascript:alert(3)"]}
      pinned_by: {type: S, optional: 90%}
patterns:
  - id: A1
    name: "Posts of a topic <script>alert(4)</script>"
    entities: [Topic, Post]
    where: topic = ?topic
    rate: 20/s
  - id: A2
    name: Posts by text
    entity: Post
    where: body = ?body
    rate: 1 per hour
  - id: W1
    name: A post
    write: {put: Post}  # hashrange: HR505 "><script>alert(5)</script>
    rate: {average: 700/s, curve: evening}
"""
