"""The receivers of audit logs that the page of a setup link knows, and what to do in the console of each."""

from typing import Final

from core.audit.siem import SiemProvider
from entrypoints.pages.console.setup_steps import ProviderKind, Step
from entrypoints.pages.frame.languages import marked

KINDS: Final = (
    ProviderKind(
        word=SiemProvider.SPLUNK.value,
        name="Splunk",
        steps=(
            Step(
                text=marked(
                    "In Splunk, open “Settings”, “Data inputs” and “HTTP Event Collector”, and choose “New Token”."
                    " Choose its index, and copy “Token Value”."
                ),
                fields=("siem_token", "index"),
            ),
            Step(
                text=marked(
                    "Enter the address of the collector: Splunk's address with :8088/services/collector/event at"
                    " its end."
                ),
                fields=("endpoint",),
            ),
        ),
    ),
    ProviderKind(
        word=SiemProvider.DATADOG.value,
        name="Datadog",
        steps=(
            Step(
                text=marked(
                    "In Datadog, open “Organization Settings” and “API Keys”, and choose “New Key”. Copy the key."
                ),
                fields=("siem_token",),
            ),
            Step(
                text=marked(
                    "Enter the log intake of your site, such as https://http-intake.logs.datadoghq.eu/api/v2/logs."
                ),
                fields=("endpoint",),
            ),
        ),
    ),
    ProviderKind(
        word=SiemProvider.ELASTIC.value,
        name="Elastic",
        steps=(
            Step(
                text=marked(
                    "In Kibana, open “Stack Management” and “API keys”, and choose “Create API key”. Let it create"
                    " documents in one index or data stream, and copy it as “Encoded”."
                ),
                fields=("siem_token", "index"),
            ),
            Step(text=marked("Enter the address of the cluster with /_bulk at its end."), fields=("endpoint",)),
        ),
    ),
    ProviderKind(
        word=SiemProvider.HTTP.value,
        name=marked("Another one, by JSON lines over HTTPS"),
        steps=(
            Step(
                text=marked(
                    "At your SIEM, make an address that takes JSON lines over HTTPS, such as a collector of Microsoft"
                    " Sentinel or Google Security Operations, and enter it."
                ),
                fields=("endpoint",),
            ),
            Step(
                text=marked("If it asks for a token, enter it. It is sent as a Bearer token."),
                fields=("siem_token",),
            ),
        ),
    ),
)
