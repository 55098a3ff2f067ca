import ErrandJSONSchema
import ErrandJSONValidation
import Foundation

/// Compares JSON validation with other readers of the same 10 MB: `JSONSerialization` and `JSONDecoder`.
enum JSONValidationBench {
    static func run() async throws {
        let compact = document(bytes: 10_000_000)
        let indented = try indented(compact)
        var rounds = Rounds()
        func take(_ name: String, _ data: Data, _ body: () throws -> Void) async rethrows {
            try await rounds.take(name) {
                let time = try await microseconds(1) { try body() }
                return Double(data.count) / time
            }
        }
        for _ in 0..<5 {
            try await take("JSONSerialization", compact) { _ = try JSONSerialization.jsonObject(with: compact) }
            try await take("JSONDecoder into structs", compact) {
                _ = try JSONDecoder().decode([Person].self, from: compact)
            }
            try await take("validate against a shape", compact) { try Self.shape.validate(compact) }
            try await take("validate, indented, keys in any order", indented) { try Self.shape.validate(indented) }
            try await take("validate the syntax only", compact) { try JSONShape.any.validate(compact) }
        }
        rounds.report("MB/s", against: "JSONSerialization")
        try await schemas()
        if let kilobytes = extraMemory({ try? Self.shape.validate(compact) }) {
            print("\(Rounds.pad("memory while validating", 44)) \(Rounds.number(Double(kilobytes))) KiB")
        }
    }

    private static func schemas() async throws {
        let orders = OrdersBench.document(bytes: 10_000_000)
        let schema = try JSONSchema(Data(OrdersBench.schema.utf8))
        var rounds = Rounds()
        func take(_ name: String, _ data: Data, _ body: () throws -> Void) async rethrows {
            try await rounds.take(name) { try await microseconds(1) { try body() } * 1_000 / Double(data.count) }
        }
        for _ in 0..<5 {
            try await take("orders: JSONSerialization", orders) { _ = try JSONSerialization.jsonObject(with: orders) }
            try await take("orders: validate against a schema", orders) { try schema.validate(orders) }
            try await take("orders: validate the syntax only", orders) { try JSONShape.any.validate(orders) }
        }
        rounds.report("ns/byte", against: "JSONSerialization")
        if let kilobytes = extraMemory({ try? schema.validate(orders) }) {
            print("\(Rounds.pad("memory while validating orders", 44)) \(Rounds.number(Double(kilobytes))) KiB")
        }
        var unions = Rounds()
        for count in [100, 400] {
            let (schema, text) = try OrdersBench.union(count)
            for _ in 0..<5 {
                try await unions.take("an object among \(count) branches by a tag") {
                    try await microseconds(1_000) { try schema.validate(text) }
                }
            }
        }
        unions.report("µs", against: "an object among 100 branches by a tag")
    }

    private static let shape: JSONShape = .array(of: [
        "id": .integer(in: 1...), "name": .string(nonEmpty: true), "email": .optional(.string), "active": .boolean,
        "score": .number, "bio": .string, "tags": .array(of: .string),
        "address": [
            "street": .string, "city": .string, "zip": .string(length: 5...5), "geo": ["lat": .number, "lng": .number],
        ],
        "role": .enumeration("admin", "editor", "reader"), "created": .string, "manager": .nullable(.integer),
    ])

    struct Person: Decodable {
        struct Address: Decodable {
            struct Place: Decodable { let lat, lng: Double }
            let street, city, zip: String
            let geo: Place
        }
        let id: Int
        let name: String
        let email: String?
        let active: Bool
        let score: Double
        let bio: String
        let tags: [String]
        let address: Address
        let role, created: String
        let manager: Int?
    }

    /// Builds the document from a rule, so every run reads the same bytes.
    static func document(bytes: Int) -> Data {
        let roles = ["admin", "editor", "reader"]
        let places = ["Springfield", "São Paulo", "Zürich", "東京都"]
        var text = "["
        var index = 0
        while text.utf8.count < bytes {
            if index > 0 { text += "," }
            text += "{\"id\":\(100_000 + index),\"name\":\"User number \(index)\","
            if index % 4 != 0 { text += "\"email\":\"user\(index)@example.com\"," }
            text += "\"active\":\(index % 3 != 0),\"score\":\(Double(index % 1_000) / 8),"
            text +=
                "\"bio\":\"Lives between the mountains and the sea.\\nWrites \\\"code\\\" for people who read it.\","
            text += "\"tags\":[\"swift\",\"linux\",\"http\"],\"address\":{\"street\":\"Main Street \(index % 300)\","
            text += "\"city\":\"\(places[index % 4])\",\"zip\":\"\(10_000 + index % 80_000)\","
            text += "\"geo\":{\"lat\":\(Double(index % 90) + 0.25),\"lng\":-\(Double(index % 180) + 0.125)}},"
            text += "\"role\":\"\(roles[index % 3])\",\"created\":\"2024-05-0\(1 + index % 9)T12:34:56Z\","
            text += "\"manager\":\(index % 5 == 0 ? "null" : "\(index)")}"
            index += 1
        }
        return Data((text + "]").utf8)
    }

    private static func indented(_ data: Data) throws -> Data {
        let object = try JSONSerialization.jsonObject(with: data)
        return try JSONSerialization.data(withJSONObject: object, options: [.prettyPrinted])
    }

    /// Returns the additional memory that a closure needs, or nil if the system doesn't report it.
    private static func extraMemory(_ body: () -> Void) -> Int? {
        guard let reset = FileHandle(forWritingAtPath: "/proc/self/clear_refs") else { return nil }
        do { try reset.write(contentsOf: Data("5".utf8)) } catch { return nil }
        guard let before = status("VmRSS:") else { return nil }
        body()
        return status("VmHWM:").map { $0 - before }
    }

    private static func status(_ field: String) -> Int? {
        guard let data = FileManager.default.contents(atPath: "/proc/self/status") else { return nil }
        let line = String(decoding: data, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix(field) }
        return line.flatMap { Int($0.filter(\.isNumber)) }
    }
}
