import ErrandJSONDecoding
import Foundation

/// Compares the fast decoder with `JSONDecoder` in one run: 1 KB, 100 KB and 10 MB of people with nested values, and of
/// orders with many small fields.
enum JSONDecodingBench {
    static func run() async throws {
        for (name, bytes, repeats) in [("1 KB", 1_000, 1_000), ("100 KB", 100_000, 10), ("10 MB", 10_000_000, 1)] {
            try await compare(
                "people, \(name)", [JSONValidationBench.Person].self, JSONValidationBench.document(bytes: bytes),
                repeats)
            try await compare("items, \(name)", [Item].self, items(bytes: bytes), repeats)
        }
    }

    private static func compare<Value: Decodable>(
        _ name: String, _ type: Value.Type, _ data: Data, _ repeats: Int
    ) async throws {
        let (standard, fast) = (JSONDecoder(), FastJSONDecoder())
        var rounds = Rounds()
        for _ in 0..<9 {
            try await rounds.take("JSONDecoder, \(name)") {
                try await microseconds(repeats) {
                    for _ in 0..<repeats { _ = try standard.decode(type, from: data) }
                } * 1_000 / Double(data.count)
            }
            try await rounds.take("FastJSONDecoder, \(name)") {
                try await microseconds(repeats) {
                    for _ in 0..<repeats { _ = try fast.decode(type, from: data) }
                } * 1_000 / Double(data.count)
            }
        }
        rounds.reportMinimum("ns/byte", against: "JSONDecoder, \(name)")
    }

    private struct Item: Decodable {
        let id: Int
        let sku: String
        let count: Int
        let price: Double
        let taxed: Bool
    }

    private static func items(bytes: Int) -> Data {
        var text = "["
        var index = 0
        while text.utf8.count < bytes {
            if index > 0 { text += "," }
            text += "{\"id\":\(index),\"sku\":\"A-\(1_000 + index)\",\"count\":\(index % 7),"
            text += "\"price\":\(Double(index) * 1.25 + 0.5),\"taxed\":\(index % 2 == 0)}"
            index += 1
        }
        return Data((text + "]").utf8)
    }
}
