import ErrandEssentials
import ErrandJSONSchema
import ErrandJSONValidation
import Testing

@Suite("JSON Schema: amounts in messages", .leakChecked) struct AmountTests {
    @Test(
        "an amount of one has a singular noun and verb",
        arguments: [
            (#"{"minItems":1}"#, "[]", "an array of at least 1 element"),
            (#"{"minItems":2}"#, "[]", "an array of at least 2 elements"),
            (#"{"maxItems":1}"#, "[1,2]", "an array of at most 1 element"),
            (#"{"minProperties":1}"#, "{}", "an object of at least 1 key"),
            (#"{"maxProperties":1}"#, #"{"a":1,"b":2}"#, "an object of at most 1 key"),
            (#"{"minLength":1}"#, #""""#, "a string of at least 1 character"),
            (#"{"contains":{"type":"string"}}"#, "[1]", "at least 1 element that fits"),
            (#"{"contains":{"type":"string"},"minContains":2}"#, "[1]", "at least 2 elements that fit"),
            (#"{"contains":{"type":"integer"},"maxContains":1}"#, "[1,2]", "at most 1 element that fits"),
        ])
    func schema(schema: String, text: String, expected: String) throws {
        let schema = try JSONSchema(Data(schema.utf8))
        let error = #expect(throws: JSONValidationError.self) { try schema.validate(Data(text.utf8)) }
        #expect(error?.problems.map(\.expected) == [expected])
    }
}
