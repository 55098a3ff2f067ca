// The code of docs/json-validation.md. DocumentationTests compares the two.
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

private func withoutAnAgent(shape: JSONShape, data: Data, buffer: UnsafeRawBufferPointer) throws {
    try shape.validate(data)
    try shape.validate(bytes: buffer)
}

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
