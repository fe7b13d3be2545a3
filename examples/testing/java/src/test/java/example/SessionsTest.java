package example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import example.Hashrange.Database;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Hashrange.class)
class SessionsTest {
    @Test
    void aSessionEndsAfterAnHour(Database database) {
        var sessions = new Sessions(database.client);
        sessions.createTable();
        sessions.begin("t", database.nowEpochSeconds());
        database.moveClock(59 * 60);
        assertTrue(sessions.exists("t"));
        database.moveClock(2 * 60);
        assertFalse(sessions.exists("t"));
    }

    @Test
    void aTestSeesNoTableOfAnother(Database database) {
        assertEquals(List.of(), database.client.listTables().tableNames());
    }

    @Test
    void aRequestThatFailsTwiceIsSentAgain(Database database) {
        var sessions = new Sessions(database.client);
        sessions.createTable();
        database.fail("PutItem", 2);
        sessions.begin("t", database.nowEpochSeconds());
        assertTrue(sessions.exists("t"));
        assertEquals(3, database.requests().split("\"operation\":\"PutItem\"", -1).length - 1);
        assertFalse(database.requests().contains("\"scan\":true"));
    }
}
