// What docs/json-validation.md shows, as code that compiles; DocumentationTests compares the two.
import Errand
import ErrandJSONValidation
import ErrandSystemTransport
import Foundation

struct GetUsers: JSONValidatedRequest {
    typealias Output = [User]
    var path: String { "users" }
    var shape: JSONShape {
        .array(of: [
            "id": .integer, "name": .string(nonEmpty: true), "email": .optional(.string), "tags": .array(of: .string),
        ])
    }
}

private func onAnAgent() async throws {
    let agent = NetworkAgent(baseURL: "https://api.example.com/v1", transport: .system)
    let users = try await agent.send(GetUsers()).value
    _ = users
    do { _ = try await agent.send(GetUsers()) } catch let error as ErrandError {
        for problem in error.jsonValidation?.problems ?? [] {
            print(problem.pointer, problem.expected, problem.found, problem.offset)
        }
    }
}

struct GetOrder: JSONValidatedRequest {
    let shape: JSONSchema
    let id: Int
    var path: String { "orders/\(id)" }
}

private func schemas(_ agent: NetworkAgent) async throws {
    let document = try Data(contentsOf: URL(filePath: "openapi.json"))
    let schema = try JSONSchema(document, at: "/components/schemas/Order")
    let order = try await agent.send(GetOrder(shape: schema, id: 1)).value
    let bundled: [String: Data] = ["https://example.com/address.json": Data(#"{"type": "object"}"#.utf8)]
    let text = #"{"properties": {"address": {"$ref": "https://example.com/address.json"}}}"#
    let customer = try JSONSchema(Data(text.utf8), formats: .assertion, resolver: { uri in bundled[uri] })
    _ = (order, customer)
}

private func withoutAnAgent(shape: JSONShape, data: Data, buffer: UnsafeRawBufferPointer) throws {
    try shape.validate(data)
    try shape.validate(bytes: buffer)
}

/// The rows of the table of shapes.
private func shapes(pairs: [(key: String, value: JSONShape)], source: String) throws -> [JSONShape] {
    [
        ["id": .integer], .object(["id": .integer], closed: true), .object(members: pairs), .map(of: .number),
        .map(of: .number, count: 1...), .array(of: .string), .array(of: .string, count: 1...5), [.string],
        [.string, .integer], [], .object, .array, .string, .string(nonEmpty: true), .string(length: 1...80),
        .string(matching: /[a-z]+/), try .string(pattern: source), .integer, .integer(in: 0...), .number,
        .number(in: 0...1), .boolean, .enumeration("draft", 3, nil), .nullable(.string), .optional(.string),
        .optional(.string, allowsNull: false), .null, .any, .either(.integer, .string),
        .custom("an even number", of: .integer) { $0.integer?.isMultiple(of: 2) == true },
        .recursive { tree in ["children": .array(of: tree)] }, try JSONShape(example: Data("[]".utf8)),
    ]
}
