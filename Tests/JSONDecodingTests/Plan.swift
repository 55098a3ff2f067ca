import ErrandTestSupport
import Foundation

/// The calls that a generated type makes on its decoder, in order.
indirect enum Plan {
    case scalar(any Reading.Type)
    case list(Plan)
    case members([Member])
    case nested([Member])
    case wrapped(Plan)

    struct Member {
        let name: String
        let plan: Plan
        let isOptional: Bool
    }

    /// The plan of the value that is decoded next. Stored here because `init(from:)` takes no other argument.
    final class Current: @unchecked Sendable {
        var plan: Plan
        init(_ plan: Plan) { self.plan = plan }

        static let key = CodingUserInfoKey(rawValue: "plan").unsafelyUnwrapped
    }
}

struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// A type that containers decode with a dedicated overload.
protocol Reading {
    static func keyed(_ container: KeyedDecodingContainer<AnyKey>, _ key: AnyKey, ifPresent: Bool) throws -> Any?
    static func next(_ container: inout any UnkeyedDecodingContainer) throws -> Any?
    static func single(_ container: any SingleValueDecodingContainer) throws -> Any?
}

enum Read<Value: Decodable>: Reading {
    static func keyed(_ container: KeyedDecodingContainer<AnyKey>, _ key: AnyKey, ifPresent: Bool) throws -> Any? {
        try ifPresent ? container.decodeIfPresent(Value.self, forKey: key) : container.decode(Value.self, forKey: key)
    }
    static func next(_ container: inout any UnkeyedDecodingContainer) throws -> Any? {
        try container.decode(Value.self)
    }
    static func single(_ container: any SingleValueDecodingContainer) throws -> Any? {
        try container.decode(Value.self)
    }
}

/// The overloads for `Int`, `String`, `Double` and `Bool`, which generic code doesn't reach.
enum ReadInt: Reading {
    static func keyed(_ container: KeyedDecodingContainer<AnyKey>, _ key: AnyKey, ifPresent: Bool) throws -> Any? {
        try ifPresent ? container.decodeIfPresent(Int.self, forKey: key) : container.decode(Int.self, forKey: key)
    }
    static func next(_ container: inout any UnkeyedDecodingContainer) throws -> Any? {
        try container.decodeIfPresent(Int.self)
    }
    static func single(_ container: any SingleValueDecodingContainer) throws -> Any? { try container.decode(Int.self) }
}

enum ReadString: Reading {
    static func keyed(_ container: KeyedDecodingContainer<AnyKey>, _ key: AnyKey, ifPresent: Bool) throws -> Any? {
        try ifPresent ? container.decodeIfPresent(String.self, forKey: key) : container.decode(String.self, forKey: key)
    }
    static func next(_ container: inout any UnkeyedDecodingContainer) throws -> Any? {
        try container.decode(String.self)
    }
    static func single(_ container: any SingleValueDecodingContainer) throws -> Any? {
        try container.decode(String.self)
    }
}

enum ReadDouble: Reading {
    static func keyed(_ container: KeyedDecodingContainer<AnyKey>, _ key: AnyKey, ifPresent: Bool) throws -> Any? {
        try ifPresent ? container.decodeIfPresent(Double.self, forKey: key) : container.decode(Double.self, forKey: key)
    }
    static func next(_ container: inout any UnkeyedDecodingContainer) throws -> Any? {
        try container.decode(Double.self)
    }
    static func single(_ container: any SingleValueDecodingContainer) throws -> Any? {
        try container.decode(Double.self)
    }
}

enum ReadBool: Reading {
    static func keyed(_ container: KeyedDecodingContainer<AnyKey>, _ key: AnyKey, ifPresent: Bool) throws -> Any? {
        try ifPresent ? container.decodeIfPresent(Bool.self, forKey: key) : container.decode(Bool.self, forKey: key)
    }
    static func next(_ container: inout any UnkeyedDecodingContainer) throws -> Any? {
        try container.decodeNil() ? nil : container.decode(Bool.self)
    }
    static func single(_ container: any SingleValueDecodingContainer) throws -> Any? { try container.decode(Bool.self) }
}

/// A dictionary, with no path in its error: JSONDecoder reads members in no defined order, so any of them may fail
/// first.
enum ReadDictionary<Value: Decodable>: Reading {
    private struct Failure: Error {}

    private static func read(_ body: () throws -> Any?) throws -> Any? {
        do { return try body() } catch { throw Failure() }
    }

    static func keyed(_ container: KeyedDecodingContainer<AnyKey>, _ key: AnyKey, ifPresent: Bool) throws -> Any? {
        try read { try Read<Value>.keyed(container, key, ifPresent: ifPresent) }
    }
    static func next(_ container: inout any UnkeyedDecodingContainer) throws -> Any? {
        try read { try Read<Value>.next(&container) }
    }
    static func single(_ container: any SingleValueDecodingContainer) throws -> Any? {
        try read { try Read<Value>.single(container) }
    }
}

/// An enumeration with raw values, one with associated values, and a recursive structure.
enum Role: String, Decodable { case admin, editor, reader }

enum Form: Decodable {
    case circle(radius: Double)
    case square(side: Int, name: String?)
}

struct Tree: Decodable {
    let name: String?
    let children: [Tree]?
}

struct Planned: Decodable {
    let text: String

    init(from decoder: any Decoder) throws {
        guard let current = decoder.userInfo[Plan.Current.key] as? Plan.Current else { fatalError("no plan") }
        switch current.plan {
        case .scalar(let type): text = Self.show(try type.single(decoder.singleValueContainer()))
        case .wrapped(let plan):
            current.plan = plan
            text = "(\(try decoder.singleValueContainer().decode(Planned.self).text))"
        case .list(let plan):
            var container = try decoder.unkeyedContainer()
            var texts = ["\(container.count ?? -1)"]
            while !container.isAtEnd {
                if case .scalar(let type) = plan {
                    texts.append(Self.show(try type.next(&container)))
                } else {
                    current.plan = plan
                    texts.append(try container.decode(Planned.self).text)
                }
            }
            text = "\(texts) \(container.currentIndex)"
        case .members(let members):
            text = try Self.members(decoder.container(keyedBy: AnyKey.self), members, current)
        case .nested(let members):
            let outer = try decoder.container(keyedBy: AnyKey.self)
            let inner = try outer.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey(stringValue: "inner"))
            let own = try Self.members(inner, members, current)
            let parent = try outer.superDecoder()
            text = "\(own) \(parent.codingPath.map(\.stringValue)) \(try parent.singleValueContainer().decodeNil())"
        }
    }

    private static func members(
        _ container: KeyedDecodingContainer<AnyKey>, _ members: [Plan.Member], _ current: Plan.Current
    ) throws -> String {
        var texts = [container.allKeys.map(\.stringValue).sorted().description]
        for member in members {
            let key = AnyKey(stringValue: member.name)
            if case .scalar(let type) = member.plan {
                texts.append(show(try type.keyed(container, key, ifPresent: member.isOptional)))
            } else {
                current.plan = member.plan
                let value =
                    try member.isOptional
                    ? container.decodeIfPresent(Planned.self, forKey: key) : container.decode(Planned.self, forKey: key)
                texts.append(value?.text ?? "nil")
            }
        }
        return "\(texts) \(container.codingPath.map(\.stringValue))"
    }

    private static func show(_ value: Any?) -> String { value.map(Outcome.describe) ?? "nil" }
}
