// The code in docs/integrations.md, so it's known to compile.
import Errand
import ErrandHTTPTypes
import Foundation
import HTTPTypes

private func convert(_ exchange: Exchange, _ data: Data) throws {
    let typed = try HTTPTypes.HTTPRequest(exchange.http)
    let request = try Errand.HTTPRequest(typed, body: exchange.http.body)
    let response = Errand.HTTPResponse(HTTPTypes.HTTPResponse(status: .ok), to: request, body: HTTPBody(data))
    _ = response
}
