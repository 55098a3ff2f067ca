// What docs/integrations.md shows of this package, as code that compiles.
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
