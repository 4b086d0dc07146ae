"""Makes the documents of this folder with the libraries that people make them with:

    pip install python-docx python-pptx openpyxl odfpy ebooklib; python3 make.py
"""
import docx, datetime
d=docx.Document(); d.core_properties.title="Harbour lease"; d.core_properties.author="Ada Marsh"; d.core_properties.keywords="harbour, lease"
d.add_heading("Lease of the north quay",0); d.add_paragraph("The quay is let from May.")
d.add_heading("Dues",1); d.add_paragraph("Forty crowns a day.")
d.add_paragraph("Lifeboats pay nothing.", style="List Bullet")
t=d.add_table(rows=2,cols=2); t.cell(0,0).text="Ship"; t.cell(0,1).text="Dues"; t.cell(1,0).text="Sloop | small"; t.cell(1,1).text="40"
d.add_heading("Deep",2); d.add_paragraph("Below & beyond <x>.")
d.save("lease.docx")
from pptx import Presentation
p=Presentation(); s=p.slides.add_slide(p.slide_layouts[1]); s.shapes.title.text="Ferries"; s.placeholders[1].text="Two a day\nDogs travel free"
s.notes_slide.notes_text_frame.text="Mention the winter table."
s=p.slides.add_slide(p.slide_layouts[5]); s.shapes.title.text="Winter"
from pptx.util import Inches
tb=s.shapes.add_table(2,2,Inches(1),Inches(1),Inches(4),Inches(1)).table; tb.cell(0,0).text="Day"; tb.cell(0,1).text="Hour"; tb.cell(1,0).text="Monday"; tb.cell(1,1).text="nine"
p.core_properties.author="Bo"; p.save("ferries.pptx")
import openpyxl
w=openpyxl.Workbook(); a=w.active; a.title="Dues"; a.append(["Dues of 2026"]); a.append(["Ship","Crowns","Paid"]); a.append(["Sloop",40,datetime.date(2026,5,1)]); a.append(["Tall ship",0.5,datetime.datetime(2026,5,2,9,30)])
b=w.create_sheet("Far"); b["A1"]="here"; b["XFD1048576"]="far away"
w.save("dues.xlsx")
from odf.opendocument import OpenDocumentText
from odf.text import H,P,List,ListItem
from odf.table import Table,TableRow,TableCell
from odf import dc
o=OpenDocumentText(); o.meta.addElement(dc.Title(text="Tides")); o.meta.addElement(dc.Creator(text="Ada Marsh"))
o.text.addElement(H(outlinelevel=1,text="Tides")); o.text.addElement(P(text="Twice a day.")); o.text.addElement(H(outlinelevel=2,text="Spring"))
l=List(); i=ListItem(); i.addElement(P(text="Higher then.")); l.addElement(i); o.text.addElement(l)
t=Table(); 
for row in (["Moon","Height"],["full","4 m"]):
    r=TableRow()
    for c in row:
        k=TableCell(); k.addElement(P(text=c)); r.addElement(k)
    t.addElement(r)
o.text.addElement(t)
o.save("tides.odt")
from ebooklib import epub
e=epub.EpubBook(); e.set_identifier("x"); e.set_title("The lighthouse"); e.set_language("en"); e.add_author("Ada Marsh")
c1=epub.EpubHtml(title="One",file_name="one.xhtml"); c1.content="<h1>One</h1><p>The lamp is white.</p>"
c2=epub.EpubHtml(title="Two",file_name="two.xhtml"); c2.content="<h1>Two</h1><p>The horn is loud.</p>"
for c in(c1,c2): e.add_item(c)
e.toc=(c1,c2); e.add_item(epub.EpubNcx()); e.add_item(epub.EpubNav()); e.spine=["nav",c1,c2]
epub.write_epub("lighthouse.epub",e)
from email.message import EmailMessage
m=EmailMessage(); m["Subject"]="Ferry on Grüne Woche"; m["From"]="Ada Marsh <ada@example.org>"; m["To"]="crew@example.org"; m["Date"]="Fri, 02 Jan 2026 03:04:05 +0000"
m.set_content("The ferry is late.\n# not a heading\n"); m.add_alternative("<p>The ferry is <b>late</b>.</p>",subtype="html"); m.add_attachment(b"x",maintype="application",subtype="pdf",filename="table.pdf")
open("ferry.eml","wb").write(bytes(m))
import json
json.dump({"cells":[{"cell_type":"markdown","source":["# Waves\n","Heights."]},{"cell_type":"code","source":"# no heading\nx = 1","outputs":[]}],"metadata":{"kernelspec":{"language":"python"}},"nbformat":4,"nbformat_minor":5},open("waves.ipynb","w"))
