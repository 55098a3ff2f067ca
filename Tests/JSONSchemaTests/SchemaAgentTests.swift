import Errand
import ErrandJSONSchema
import ErrandJSONValidation
import ErrandTesting
import Foundation
import Testing

@Suite("JSON Schema on an agent", .endsInTime, .leakChecked)
struct SchemaAgentTests {
    private func agent(_ response: StubResponse, _ filters: [any Filter] = []) -> NetworkAgent {
        NetworkAgent(baseURL: "https://api.example.com", transport: .stub(response), filters: filters)
    }

    private func refusal(_ request: some Request, _ agent: NetworkAgent) async -> ErrandError? {
        do {
            _ = try await agent.send(request)
            return nil
        } catch { return error as? ErrandError }
    }

    @Test("a schema can be the shape of a request, and a check of any request")
    func schema() async throws {
        struct GetOrder: JSONValidatedRequest {
            let shape: JSONSchema
        }
        struct GetAny: Request {
            let checks: [ResponseCheck]
        }
        let schema = try JSONSchema(Data(#"{"required": ["id"], "properties": {"id": {"type": "integer"}}}"#.utf8))
        let (right, wrong) = (agent(.json(#"{"id":7}"#)), agent(.json(#"{"id":"7"}"#)))
        #expect(try await right.send(GetOrder(shape: schema)).value == Data(#"{"id":7}"#.utf8))
        #expect(try await right.send(GetAny(checks: [.json(schema)])).value == Data(#"{"id":7}"#.utf8))
        for error in [
            await refusal(GetOrder(shape: schema), wrong), await refusal(GetAny(checks: [.json(schema)]), wrong),
        ] {
            #expect(error?.code == .checkFailed)
            #expect(error?.jsonValidation?.problems.first?.schemaLocation == "#/properties/id/type")
        }
        var few = JSONLimits()
        few.maximumBytes = 3
        let limited = agent(.json(#"{"id":7}"#), [.jsonValidation(limits: few)])
        #expect(await refusal(GetOrder(shape: schema), limited)?.jsonValidation?.problems.first?.kind == .limit)
    }
}
