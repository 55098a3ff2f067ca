import Foundation

/// Random plans, and texts that usually fit them.
struct RandomPlan {
    var random: SeededGenerator

    init(seed: Int) { random = SeededGenerator(seed: seed) }

    private static var scalars: [any Reading.Type] {
        [
            ReadInt.self, ReadString.self, ReadDouble.self, ReadBool.self, Read<Int>.self, Read<String>.self,
            Read<Double>.self, Read<Bool>.self, Read<Float>.self, Read<Int8>.self, Read<Int16>.self, Read<Int32>.self,
            Read<Int64>.self, Read<UInt>.self, Read<UInt8>.self, Read<UInt16>.self, Read<UInt32>.self,
            Read<UInt64>.self,
            Read<[Int]>.self, Read<[String]>.self, Read<[Double]>.self,
            Read<[Bool]>.self, Read<[UInt8]>.self, Read<[Float]>.self, Read<[[Int]]>.self, Read<[Int?]>.self,
            ReadDictionary<[String: Int]>.self, ReadDictionary<[String: [String]]>.self,
            ReadDictionary<[Int: String]>.self, Read<Int?>.self,
            Read<Date>.self, Read<Data>.self, Read<URL>.self, Read<Decimal>.self, Read<Role>.self, Read<Form>.self,
            Read<Tree>.self, Read<[URL]>.self,
        ]
    }

    private static let names = [
        "id", "name", "a", "b", "c", "", "user_name", "userName", "inner", "super", "é", "e\u{301}", "K", "\u{212A}",
        "a long key with spaces", "0", "12", "名前",
    ]

    mutating func plan(_ depth: Int = 3) -> Plan {
        switch random.below(depth > 0 ? 8 : 3) {
        case 0, 1, 2: .scalar(random.pick(Self.scalars))
        case 3: .list(plan(depth - 1))
        case 4: .wrapped(plan(depth - 1))
        case 5: .nested(members(depth - 1))
        default: .members(members(depth - 1))
        }
    }

    private mutating func members(_ depth: Int) -> [Plan.Member] {
        (0..<random.below(6)).map { _ in
            Plan.Member(name: random.pick(Self.names), plan: plan(depth), isOptional: random.chance(2))
        }
    }

    /// Returns a text for a plan, with white space and with members in any order, extra, repeated or missing.
    mutating func text(_ plan: Plan) -> String {
        if random.chance(25) { return anything(2) }
        switch plan {
        case .scalar(let type): return scalar("\(type)")
        case .wrapped(let plan): return text(plan)
        case .list(let plan): return list((0..<random.below(5)).map { _ in text(plan) })
        case .nested(let members):
            return object([("inner", object(members.map { ($0.name, text($0.plan)) }))] + extra())
        case .members(let members): return object(members.map { ($0.name, text($0.plan)) } + extra())
        }
    }

    private mutating func extra() -> [(String, String)] {
        (0..<random.below(3)).map { _ in (random.pick(Self.names), anything(1)) }
    }

    private mutating func object(_ members: [(String, String)]) -> String {
        var members = members
        if random.chance(4) { members.shuffle(using: &random) }
        if random.chance(6), !members.isEmpty { members.remove(at: random.below(members.count)) }
        if random.chance(40) { members += (0..<70).map { ("key \($0 % 60)", "\($0)") } }
        return "{"
            + members.map { "\(space())\(string($0))\(space()):\(space())\($1)\(space())" }.joined(separator: ",")
            + "}"
    }

    private mutating func list(_ elements: [String]) -> String {
        "[" + elements.map { "\(space())\($0)\(space())" }.joined(separator: ",") + "]"
    }

    private mutating func space() -> String {
        random.chance(8) ? random.pick([" ", "\n", "\t", "\r\n", "         "]) : ""
    }

    private mutating func string(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if random.chance(12), scalar.value < 0x10000 {
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            } else if scalar == "\"" || scalar == "\\" {
                quoted += "\\\(scalar)"
            } else {
                quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    private mutating func scalar(_ type: String) -> String {
        if random.chance(15) { return anything(1) }
        if type.contains("Dictionary") {
            let value = type.contains("Array") ? "[\"x\"]" : type.contains("Int, String") ? "\"x\"" : number(false)
            let names = type.contains("Int, String") ? ["0", "12", "-7", "12"] : Self.names
            return object((0..<random.below(4)).map { _ in (random.pick(names), value) })
        }
        if type.contains("Array<Array") { return list(["[]", list([number(false), number(false)])]) }
        if type.contains("Array") {
            let element = String(type.dropFirst("Read<Array<".count))
            return list((0..<random.below(6)).map { _ in scalar(element) })
        }
        if type.contains("String") {
            return string(random.pick(["", "x", "ünï", "😀", "a\"\\b", "long enough for the heap"]))
        }
        if type.contains("Bool") { return random.pick(["true", "false"]) }
        if type.contains("Data") { return random.pick(["\"AAEC\"", "\"\"", "\"AA\"", "\"=\"", "\"QUJD\\nREVG\""]) }
        if type.contains("URL") {
            return random.pick(["\"https://example.com/a?b\"", "\"\"", "\"a b\"", "\"http://[\""])
        }
        if type.contains("Role") { return random.pick(["\"admin\"", "\"reader\"", "\"other\""]) }
        if type.contains("Form") {
            return random.pick([
                #"{"circle":{"radius":1.5}}"#, #"{"square":{"side":2,"name":null}}"#, #"{"square":{"side":2}}"#, "{}",
                #"{"circle":{},"square":{}}"#, #"{"oval":{}}"#, #"{"circle":{"radius":"x"}}"#,
            ])
        }
        if type.contains("Tree") {
            return random.pick([
                #"{"name":"a","children":[{"name":"b","children":[]},{}]}"#, "{}",
                #"{"children":[{"children":[{"children":[{"name":7}]}]}]}"#, #"{"children":[{},null]}"#,
            ])
        }
        return number(["Double", "Float", "Date", "Decimal"].contains { type.contains($0) })
    }

    private mutating func number(_ hasFraction: Bool) -> String {
        switch random.below(hasFraction ? 9 : 6) {
        case 0: return random.pick(["0", "-0", "1", "-1", "127", "128", "-128", "-129", "255", "256", "65536"])
        case 1:
            return random.pick([
                "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
                "18446744073709551615", "18446744073709551616", "340282366920938463463374607431768211455",
                "170141183460469231731687303715884105728", "99999999999999999999",
            ])
        case 2: return random.pick(["1.0", "2e2", "1.5", "-3.0e1", "10E-1", "0.0", "12e0"])
        case 3, 4: return "\(random.below(1_000))"
        case 5: return "\(Int64(bitPattern: random.next()))"
        case 6: return "\(Double(bitPattern: random.next() & 0x7FEF_FFFF_FFFF_FFFF))"
        case 7: return "\(Double(random.below(1_000_000)) / 1_000)"
        default: return "\(random.below(1_000_000)).\(random.below(1_000_000))e\(random.below(16) - 10)"
        }
    }

    private mutating func anything(_ depth: Int) -> String {
        switch random.below(depth > 0 ? 7 : 5) {
        case 0: "null"
        case 1: random.pick(["true", "false"])
        case 2: number(true)
        case 3, 4: string(random.pick(Self.names))
        case 5: list((0..<random.below(4)).map { _ in anything(depth - 1) })
        // At most one member, because JSONDecoder reads a dictionary in no defined order, so its first error is
        // undefined too.
        default: object((0..<random.below(2)).map { _ in (random.pick(Self.names), anything(depth - 1)) })
        }
    }
}
