"""The head of generated TypeScript: its helpers, which the calls in `values` name."""

HEAD = """\
// Made by `hashrange model codegen`; change the model, not this file.
export type Wire = Record<string, unknown>;
export type Key = Record<string, Wire>;
export type Request = { operation: string; members: Record<string, unknown> };
type Item = Readonly<Record<string, unknown>>;
type Text = string | null;

function _of(item: object, name: string): unknown {
    const value = (item as Item)[name];
    return value === undefined ? null : value;
}

function _number(value: unknown): string {
    if (typeof value !== "number") {
        return String(value);
    }
    const [digits, exponent] = String(value).split("e");
    if (exponent === undefined) {
        return digits;
    }
    const [whole, part = ""] = digits.replace("-", "").split(".");
    const zeros = "0".repeat(Math.abs(Number(exponent)));
    const sign = value < 0 ? "-" : "";
    if (Number(exponent) > 0) {
        return sign + whole + part + zeros.slice(part.length);
    }
    return sign + "0." + zeros.slice(1) + whole + part;
}

function _string(value: unknown): string {
    if (value instanceof Uint8Array) {
        return Array.from(value, (byte) => byte.toString(16).padStart(2, "0")).join("");
    }
    return typeof value === "number" ? _number(value) : String(value);
}

function _field(value: unknown, pad: number, cut: number): Text {
    if (value === null) {
        return null;
    }
    const text = _string(value);
    const sign = /^[+-]/.test(text) ? text[0] : "";
    const padded = sign + text.slice(sign.length).padStart(pad - sign.length, "0");
    return cut ? Array.from(padded).slice(0, cut).join("") : padded;
}

function _text(...parts: Text[]): Text {
    return parts.includes(null) ? null : parts.join("");
}

function _before(text: Text): Text {
    const chars = Array.from(text ?? "");
    const last = chars.pop();
    if (last === undefined || last === "\\0") {
        return chars.join("");
    }
    const code = last.codePointAt(0)! - 1;
    const previous = code >= 0xd800 && code <= 0xdfff ? 0xd7ff : code;
    return chars.join("") + String.fromCodePoint(previous, 0x10ffff);
}

function _shard(value: unknown, shards: number): Text {
    if (value === null) {
        return null;
    }
    let crc = 0xffffffff;
    for (const byte of new TextEncoder().encode(_string(value))) {
        crc ^= byte;
        for (let bit = 0; bit < 8; bit++) {
            crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
        }
    }
    return String(((crc ^ 0xffffffff) >>> 0) % shards);
}

function _nth(shard: number, shards: number): string {
    return String(shard % shards);
}

function _drawn(shards: number): string {
    return String(Math.floor(Math.random() * shards));
}

function _moment(now: number, secondsBefore: number, form: string): unknown {
    const seconds = now - secondsBefore;
    if (form === "epoch") {
        return seconds;
    }
    const iso = new Date(Math.min(Math.max(seconds, 0), 253402300799) * 1000).toISOString();
    return form === "date" ? iso.slice(0, 10) : iso.slice(0, 19) + "Z";
}

function _value(value: unknown, kind: string | null): Wire {
    if (value instanceof Set) {
        const members = Array.from(value);
        const type = kind ?? (members.every((member) => typeof member === "string") ? "SS" : "NS");
        return { [type]: members.map((member) => (type === "NS" ? _number(member) : member)).sort() };
    }
    if (value === null || value === undefined) {
        return { NULL: true };
    }
    if (typeof value === "boolean") {
        return { BOOL: value };
    }
    if (typeof value === "number" || typeof value === "bigint" || kind === "N") {
        return { N: _number(value) };
    }
    if (value instanceof Uint8Array) {
        return { B: value };
    }
    if (Array.isArray(value)) {
        return { L: value.map((member) => _value(member, null)) };
    }
    if (typeof value === "object") {
        return { M: Object.fromEntries(Object.entries(value).map(([name, member]) => [name, _value(member, null)])) };
    }
    return { S: String(value) };
}

function _appended(value: unknown): Wire {
    return _value(Array.isArray(value) ? value : [value], null);
}

function _optional(value: unknown, kind: string | null): Wire | null {
    return value === null ? null : _value(value, kind);
}

function _key(value: unknown, kind: string): any {
    if (value === null) {
        return null;
    }
    return kind === "S" ? { S: _string(value) } : _value(value, kind);
}

function _distinct(keys: Key[]): Key[] {
    return [...new Map(keys.map((key): [string, Key] => [JSON.stringify(Object.entries(key).sort()), key])).values()];
}

function _gets(keys: Key[], members: Record<string, unknown>): Record<string, unknown>[] {
    return _distinct(keys).map((key) => ({ Get: { ...members, Key: key } }));
}

function _writes(items: Record<string, Wire>[], keys: Key[]): Record<string, unknown>[] {
    if (items.length + keys.length > 25) {
        throw new RangeError("a batch has at most 25 items and keys");
    }
    return [
        ...items.map((item) => ({ PutRequest: { Item: item } })),
        ...keys.map((key) => ({ DeleteRequest: { Key: key } })),
    ];
}

function _when(holds: boolean, value: any): any {
    return holds ? value : null;
}

function _present(members: Record<string, unknown>): Record<string, Wire> {
    return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null)) as Record<string, Wire>;
}

function _all(...parts: boolean[]): boolean {
    return parts.every(Boolean);
}

function _any(...parts: boolean[]): boolean {
    return parts.some(Boolean);
}

function _not(part: boolean): boolean {
    return !part;
}

function _holds(operator: string, value: any, ...operands: any[]): boolean {
    if (operator === "exists" || operator === "not_exists") {
        return (value !== null) === (operator === "exists");
    }
    if (value === null || operands.includes(null)) {
        return operator === "<>";
    }
    switch (operator) {
        case "=":
        case "in":
            return operands.includes(value);
        case "<>":
            return !operands.includes(value);
        case "contains":
            return value instanceof Set ? value.has(operands[0]) : value.includes(operands[0]);
        case "begins_with":
            return value.startsWith(operands[0]);
        case "between":
            return operands[0] <= value && value <= operands[1];
        case "<":
            return value < operands[0];
        case "<=":
            return value <= operands[0];
        case ">":
            return value > operands[0];
        default:
            return value >= operands[0];
    }
}
"""
