import ErrandJSONValidation
import Foundation
import Testing

@Suite("Repeated keys of objects without constraints", .endsInTime, .leakChecked)
struct KeyOrderTests {
    private static let wrapped = JSONShape.array(of: ["value": .any, "kind": .optional(.any)])

    @Test("random similar objects have the same problems as with a list of their keys", arguments: 0..<10)
    func agrees(part: Int) {
        var (repeated, full, right) = (0, 0, 0)
        for seed in part * 1_000..<(part + 1) * 1_000 {
            var document = KeyedDocument(seed: seed)
            document.write()
            var limits = JSONLimits()
            limits.maximumProblems = 10_000
            limits.maximumKeys = document.limit
            let found = JSONShape.any.problems(document.text, limits: limits).map(KeyedDocument.Fault.init)
            // The same, within a value that a shape constrains.
            let inner = Self.wrapped.problems("[{\"value\":\(document.text)}]", limits: limits).map { problem in
                KeyedDocument.Fault(
                    kind: problem.kind, pointer: String(problem.pointer.dropFirst(8)), offset: problem.offset - 10)
            }
            if found != document.faults || inner != document.faults {
                Issue.record("seed \(seed): \(document.text) \(found) \(inner) \(document.faults)")
                return
            }
            if document.faults.isEmpty { right += 1 }
            if document.faults.last?.kind == .limit { full += 1 }
            if document.faults.contains(where: { $0.kind == .duplicateKey }) { repeated += 1 }
        }
        #expect(repeated > 100 && full > 5 && right > 100, "\(repeated) \(full) \(right)")
    }

    @Test(
        "a repeated key is found in any position",
        arguments: ["a", "b", "c", "d", "a key of more than sixteen bytes", "\\u0061", "\\u0064", "e", ""])
    func places(key: String) {
        let before = #"{"a":1,"b":{"a":1},"c":[],"a key of more than sixteen bytes":2,"d":3,"e":4,"":5}"#
        for place in 0...7 {
            var members = [
                #""a":1"#, #""b":{"a":1}"#, #""c":[]"#, #""a key of more than sixteen bytes":2"#, #""d":3"#, #""e":4"#,
                #""":5"#,
            ]
            members.insert("\"\(key)\":0", at: place)
            let text = "[\(before),\(before),{\(members.joined(separator: ","))},\(before)]"
            let problems = JSONShape.any.problems(text)
            #expect(problems.map(\.kind) == [.duplicateKey] && problems.first?.pointer.hasPrefix("/2/") == true)
        }
    }

    @Test("repeated keys are found with and without escapes, in objects with many keys and in deep objects")
    func hostile() {
        let many = (0..<200).map { "\"key number \($0)\":\($0)" }
        let deep = { (key: String) in
            String(repeating: "{\"x\":{\"\(key)\":1},\"y\":", count: 200) + "1" + String(repeating: "}", count: 200)
        }
        #expect(JSONShape.any.accepts("[{\(many.joined(separator: ","))},{\(many.joined(separator: ","))}]"))
        #expect(
            JSONShape.any.problems(
                "[{\(many.joined(separator: ","))},{\((many + [many[3]]).joined(separator: ","))}]"
            ).map(\.pointer) == ["/1/key number 3"])
        #expect(JSONShape.any.accepts("[\(deep("a")),\(deep("b")),\(deep("a"))]"))
        #expect(JSONShape.any.problems("[\(deep("a")),\(deep("a\":1,\"\\u0061"))]").count == 20)
    }
}

/// A text of similar objects, with the faults in their keys.
struct KeyedDocument {
    struct Fault: Equatable {
        var kind: JSONProblem.Kind
        var pointer: String
        var offset: Int
    }

    private var random: SeededGenerator
    private(set) var text = ""
    private(set) var faults: [Fault] = []
    /// The maximum number of open keys.
    let limit: Int
    private var open: [Set<String>] = []
    private var isOver = false
    private static let keys =
        [
            "a", "b", "c", "id", "name", "named", "names", "a key with more than sixteen bytes", "created_at", "",
            "\u{e9}",
        ]
        + (0..<80).map { "k\($0)" } + ["a key with more than sixteen bytes, and another end", "exactly fifteen", "n"]
    /// The usual keys of objects at each level.
    private var usual: [[String]] = []

    init(seed: Int) {
        random = SeededGenerator(seed: seed)
        limit = seed % 3 == 0 ? 60 + random.below(200) : 100_000
        for _ in 0..<4 {
            let count = random.chance(5) ? 50 + random.below(30) : 1 + random.below(12)
            usual.append(Array(Self.keys.shuffled(using: &random).prefix(count)))
        }
    }

    /// Writes the text, which ends with the object that reaches the limit.
    mutating func write() { value(0, "") }

    private mutating func value(_ level: Int, _ pointer: String) {
        switch random.below(level >= 4 ? 2 : level == 0 ? 12 : 6) {
        case 0: text += "\(random.below(1_000))"
        case 1: text += "\"text\""
        case 2 where level > 0: object(level, pointer)
        default:
            text += "["
            for index in 0..<1 + random.below(level == 0 ? 12 : 3) {
                if index > 0 { text += "," }
                if random.chance(8) {
                    value(level + 1, "\(pointer)/\(index)")
                } else {
                    object(level, "\(pointer)/\(index)")
                }
            }
            text += "]"
        }
    }

    private mutating func object(_ level: Int, _ pointer: String) {
        var keys = usual[min(level, 3)].filter { _ in !random.chance(12) }
        if random.chance(6) { keys.insert(random.pick(Self.keys), at: random.below(keys.count + 1)) }
        if random.chance(8), let key = keys.randomElement(using: &random) {
            keys.insert(key, at: random.below(keys.count + 1))
        }
        if random.chance(12) { keys.shuffle(using: &random) }
        if random.chance(20) { usual[min(level, 3)] = keys }
        text += "{"
        open.append([])
        for (index, key) in keys.enumerated() {
            if index > 0 { text += random.chance(20) ? " , " : "," }
            note(key, "\(pointer)/\(key)")
            text += quoted(key) + (random.chance(20) ? " :\n" : ":")
            if level < 4, random.chance(max(2, keys.count)) {
                value(level + 1, "\(pointer)/\(key)")
            } else {
                text += "1"
            }
        }
        open.removeLast()
        text += "}"
    }

    private mutating func note(_ key: String, _ pointer: String) {
        if isOver { return }
        if !open[open.count - 1].insert(key).inserted {
            faults.append(Fault(kind: .duplicateKey, pointer: pointer, offset: text.utf8.count))
        } else if open.reduce(0, { $0 + $1.count }) > limit {
            faults.append(Fault(kind: .limit, pointer: pointer, offset: text.utf8.count))
            isOver = true
        }
    }

    private mutating func quoted(_ key: String) -> String {
        if !random.chance(15) { return "\"\(key)\"" }
        return "\"" + key.unicodeScalars.map { random.chance(3) ? Self.escaped($0) : String($0) }.joined() + "\""
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        let hex = String(scalar.value, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
    }
}

extension KeyedDocument.Fault {
    init(_ problem: JSONProblem) { self.init(kind: problem.kind, pointer: problem.pointer, offset: problem.offset) }
}
