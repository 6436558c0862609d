"""What extraction may cost, as values: made of the settings once, and handed to the process that reads documents."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict, Field

# The same defaults as the settings of these names, which a test compares.
EXPANDED_BYTES: Final = 500_000_000
EXPANSION_RATIO: Final = 200
ARCHIVE_ENTRIES: Final = 10_000
SHEET_CELLS: Final = 2_000_000
ATTACHMENTS: Final = 100
ATTACHMENT_DEPTH: Final = 5
FILE_BYTES: Final = 20_000_000
PDF_PAGES: Final = 2_000


class ExtractOptions(BaseModel):
    """Limits of one document; each is a setting of the same name."""

    model_config = ConfigDict(frozen=True, extra="ignore", from_attributes=True)

    max_file_bytes: int = Field(FILE_BYTES, ge=1)
    expanded_max_bytes: int = Field(EXPANDED_BYTES, ge=1)
    expansion_ratio_max: int = Field(EXPANSION_RATIO, ge=2)
    archive_entries_max: int = Field(ARCHIVE_ENTRIES, ge=1)
    sheet_cells_max: int = Field(SHEET_CELLS, ge=1)
    attachments_max: int = Field(ATTACHMENTS, ge=0)
    attachment_depth_max: int = Field(ATTACHMENT_DEPTH, ge=0)
    pdf_pages_max: int = Field(PDF_PAGES, ge=1)
    drop_references: bool = Field(False, description="Leave out lists of references.")
    ocr: bool = Field(True, description="Recognise pages that are pictures, where Tesseract is there.")


def options_of(settings: object) -> ExtractOptions:
    """The options that the settings (or anything with attributes of these names) hold."""
    return ExtractOptions.model_validate(settings)
